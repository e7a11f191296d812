import type { DisplayedAttachment } from './attachment-kind.ts';

export interface CitedSource {
  /** Number of the citation in the text. */
  readonly number: number;
  readonly attachment: DisplayedAttachment;
  readonly name: string;
}

/** Citation marks, such as `[1]`, `[1, 3]`, `[2–4]`, and `【1】`. Four-digit years do not match. */
export const citationMarks = /\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]|【\s*\d{1,3}(?!\d)[^】\n]{0,30}】/g;

/** A number at the start of a title. */
const titleMark = /^\s*\[(\d{1,3})\]/;

// Pattern bound: linear. A fence without an end matches to the end of the text, and a backtick ends the search of the one before.
const code = /```[\s\S]*?(```|$)|`[^`\n]*`/g;
const maxRangeLength = 20;

/**
 * Maps each cited number to the index of its attachment. A title can start with the number, as in `[2] report.pdf`. If no title
 * does, only attachments with a reference count. If there are more of them than cited numbers, a number is a position in this
 * list. Otherwise they follow the order of the cited numbers, because quick apps send only cited attachments.
 */
export function toCited(text: string, attachments: readonly DisplayedAttachment[]): ReadonlyMap<number, number> {
  const numbers = listNumbers(text);
  const titled = new Map<number, number>();
  attachments.forEach(({ title = '' }, index) => {
    const number = Number(titleMark.exec(String(title))?.[1]);
    if (numbers.includes(number) && !titled.has(number)) titled.set(number, index);
  });
  if (titled.size > 0) return titled;
  const sources = attachments.flatMap(({ reference_url: reference }, index) => (reference === undefined ? [] : [index]));
  const isList = sources.length > numbers.length;
  const numbered = sources.map((at, index): [number, number] => [isList ? index + 1 : (numbers[index] ?? 0), at]);
  return new Map(numbered.filter(([number]) => numbers.includes(number)));
}

/** Returns the title without its number, unless only the number remains. */
export function withoutMark(title: string): string {
  return title.replace(titleMark, '').trim() || title;
}

/** Lists the cited numbers in order, each once, and skips code. */
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
