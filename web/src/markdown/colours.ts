import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** Highlighted code. */
export type ColouredCode = ReturnType<typeof lowlight.highlight>;

/** Returns undefined if the language is unknown. */
export function colour(text: string, language: string): ColouredCode | undefined {
  const name = language.toLowerCase();
  return lowlight.registered(name) ? lowlight.highlight(name, text) : undefined;
}
