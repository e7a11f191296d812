import { createContext } from 'react';
import type { DisplayedAttachment } from './attachment-kind.ts';

/** A source that a text cites. */
export interface CitedSource {
  /** Number that the page shows. */
  readonly number: number;
  /** Number in the text. */
  readonly citedNumber: number;
  readonly attachment: DisplayedAttachment;
  readonly name: string;
}

/** Citation marks, such as `[1]`, `[1, 3]`, `[2–4]`, and `【1】`. Four-digit years do not match. */
export const citationMarks = /\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]|【\s*\d{1,3}(?!\d)[^】\n]{0,30}】/g;

/** A number in brackets at the start of a title. */
const titleNumber = /^\s*\[(\d{1,3})\]/;

// Pattern bound: linear. A fence without an end matches to the end of the text, and a backtick ends the search of the one before.
const codePattern = /```[\s\S]*?(```|$)|`[^`\n]*`/g;
const maxRangeLength = 20;

/**
 * Maps each cited number, in the order of the text, to the index of its attachment. A title can start with the number, as in `[2]
 * report.pdf`. If no title starts with a cited number, only attachments with a reference are sources. If there are more sources
 * than cited numbers, a number is the position of a source. Otherwise, the sources belong to the cited numbers in ascending
 * order, because quick apps send only cited attachments.
 */
export function resolveCitations(text: string, attachments: readonly DisplayedAttachment[]): ReadonlyMap<number, number> {
  const numbers = listCitedNumbers(text);
  const getTitleNumber = ({ title = '' }: DisplayedAttachment): number => Number(titleNumber.exec(String(title))?.[1]);
  const byTitle = new Map(attachments.map((attachment, index) => [getTitleNumber(attachment), index] as const).reverse());
  const hasTitleNumbers = numbers.some((number) => byTitle.has(number));
  const sources = attachments.flatMap(({ reference_url: reference }, index) => (reference === undefined ? [] : [index]));
  const isList = sources.length > numbers.length;
  const sortedNumbers = numbers.toSorted((left, right) => left - right);
  const byPosition = new Map(sources.map((source, position) => [isList ? position + 1 : (sortedNumbers[position] ?? 0), source]));
  const indexes = hasTitleNumbers ? byTitle : byPosition;
  return new Map(numbers.map((number) => [number, indexes.get(number) ?? -1] as const).filter(([, index]) => index >= 0));
}

/** Returns the title without its number, unless only the number remains. */
export function removeTitleNumber(title: string): string {
  return title.replace(titleNumber, '').trim() || title;
}

/** Lists the cited numbers in the order of their first mention, each once, and skips code. */
export function listCitedNumbers(text: string): readonly number[] {
  const numbers = new Set<number>();
  for (const [mark] of text.replace(codePattern, ' ').matchAll(citationMarks)) {
    const list = mark.startsWith('【') ? (/\d+/.exec(mark)?.[0] ?? '') : mark;
    for (const [, first, last = first] of list.matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g))
      for (const number of listRange(Number(first), Number(last))) numbers.add(number);
  }
  numbers.delete(0);
  return [...numbers];
}

/** Lists the numbers of a range, up to a maximum length. */
export function listRange(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, Math.min(last - first, maxRangeLength) + 1) }, (_, index) => first + index);
}

/** Targets of citation numbers. */
export interface Sources {
  /** Returns the displayed number and the name of a source, by the number in the text. */
  readonly find: (citedNumber: number) => { readonly number: number; readonly name: string } | undefined;
  readonly show: (number: number) => void;
}

/** Sources of the citations in a text. Undefined if numbers in the text are not citations. */
export const SourcesContext = createContext<Sources | undefined>(undefined);
