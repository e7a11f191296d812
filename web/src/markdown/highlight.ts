import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** Highlighted code. */
export type HighlightedCode = ReturnType<typeof lowlight.highlight>;

/** Returns undefined if the language is unknown. */
export function highlight(text: string, language: string): HighlightedCode | undefined {
  const name = language.toLowerCase();
  return lowlight.registered(name) ? lowlight.highlight(name, text) : undefined;
}
