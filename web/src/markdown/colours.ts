import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** Code cut into what it is made of. */
export type ColouredCode = ReturnType<typeof lowlight.highlight>;

/** Undefined where the language is not known. */
export function colour(text: string, language: string): ColouredCode | undefined {
  const name = language.toLowerCase();
  return lowlight.registered(name) ? lowlight.highlight(name, text) : undefined;
}
