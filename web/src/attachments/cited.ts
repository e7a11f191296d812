import type { DisplayedAttachment } from './attachment-kind.ts';

/** An attachment that a text cites. */
export interface CitedSource {
  /** As the text cites it. */
  readonly number: number;
  readonly attachment: DisplayedAttachment;
  readonly name: string;
}

/** Marks of a text, as `[1]`, `[1, 3]`, `[2–4]`, `【1】`. Years are none: nobody has a thousand sources. */
export const citationMarks = /\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]|【\s*\d{1,3}(?!\d)[^】\n]{0,30}】/g;

/** The number that a title may begin with. */
const titleMark = /^\s*\[(\d{1,3})\]/;

// Pattern bound: linear. A fence without an end matches to the end of the text, and a backtick ends the search of the one before.
const code = /```[\s\S]*?(```|$)|`[^`\n]*`/g;
const maxRangeLength = 20;

/**
 * By number that a text cites, the place of what it means among the attachments. A title may begin with the number, as
 * `[2] report.pdf`. Where none does, those count that name where they come from: a quick app sends the ones that are cited, in
 * the order of their numbers, and whoever sends more than are cited sends a list, in which the number is the place.
 */
export function toCited(text: string, attachments: readonly DisplayedAttachment[]): ReadonlyMap<number, number> {
  const numbers = listNumbers(text);
  const titled = new Map<number, number>();
  attachments.forEach(({ title = '' }, at) => {
    const number = Number(titleMark.exec(String(title))?.[1]);
    if (numbers.includes(number) && !titled.has(number)) titled.set(number, at);
  });
  if (titled.size > 0) return titled;
  const sources = attachments.flatMap(({ reference_url: reference }, at) => (reference === undefined ? [] : [at]));
  const isList = sources.length > numbers.length;
  const numbered = sources.map((at, index): [number, number] => [isList ? index + 1 : (numbers[index] ?? 0), at]);
  return new Map(numbered.filter(([number]) => numbers.includes(number)));
}

/** A title without its number, if there is more to it. */
export function withoutMark(title: string): string {
  return title.replace(titleMark, '').trim() || title;
}

/** In their order, each once; none of what stands in code. */
function listNumbers(text: string): readonly number[] {
  const numbers = new Set<number>();
  for (const [mark] of text.replace(code, ' ').matchAll(citationMarks)) {
    const list = mark.startsWith('【') ? (/\d+/.exec(mark)?.[0] ?? '') : mark;
    for (const [, first, last = first] of list.matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g)) {
      const to = Math.min(Number(last), Number(first) + maxRangeLength);
      for (let number = Number(first); number <= to; number += 1) numbers.add(number);
    }
  }
  numbers.delete(0);
  return [...numbers].sort((left, right) => left - right);
}
