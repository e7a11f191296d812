import type { AdminStrings, KindTexts } from '../locales/en/administration.ts';
import { toReadableName } from './form-schema.ts';

/** Returns the texts of a kind. An unknown kind has general texts. */
export function getKindTexts(strings: AdminStrings, kind: string): KindTexts {
  const { kinds } = strings;
  const texts = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  const title = toReadableName(kind);
  return texts ?? { title, intro: '', add: strings.addEntry, empty: strings.emptyKind(title), idHint: strings.idHint };
}
