import type { FormsWords } from './forms-english.ts';

/** By format of JSON Schema: whether a text has it, and what is said where it has not. */
const formats: Readonly<Record<string, { readonly is: (text: string) => boolean; readonly word: keyof FormsWords }>> = {
  // Pattern bound: the user's own tab: one form field.
  email: { is: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), word: 'mustBeEmail' },
  uri: { is: (text) => URL.canParse(text), word: 'mustBeAddress' },
  date: { is: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)), word: 'mustBeDate' },
  'date-time': { is: (text) => !Number.isNaN(Date.parse(text)), word: 'mustBeDate' },
  time: { is: (text) => /^([01]\d|2[0-3]):[0-5]\d/.test(text), word: 'mustBeTime' },
  uuid: { is: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text), word: 'mustBeFormed' },
  ipv4: { is: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text), word: 'mustBeFormed' },
};

const longestPattern = 300;
/** Groups that are repeated and hold something repeated, or several ways, and references back: these may take for ever. */
// Pattern bound: the user's own tab: one pattern of a form.
const mayTakeLong = /\([^)]*[+*{|][^)]*\)[+*{]|\\[1-9]/;

/** What is wrong with the form of a text; undefined for nothing. Patterns that are none, or could take long, hold nobody up. */
export function formFault(text: string, format: string, pattern: string, words: FormsWords): string | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (known !== undefined && !known.is(text)) return String(words[known.word]);
  return pattern !== '' && !fits(text, pattern) ? words.mustBeFormed : undefined;
}

function fits(text: string, pattern: string): boolean {
  if (pattern.length > longestPattern || mayTakeLong.test(pattern)) return true;
  try {
    // Pattern bound: the user's own tab: one form field, with a pattern that passed the test above.
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}
