import type { Token, Tokens } from 'marked';
import { useEffect, useRef, useState } from 'react';
import { toBlocks } from './lexer.ts';

/** Definitions of links stand anywhere and hold everywhere, so that only the whole text tells what a link means. */
// Pattern bound: linear. It starts at a line break and ends before the next one.
const hasDefinitions = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;

/** A number of which the dot is yet to come: with it, it goes on with the list before. */
const mayBecomeItem = /^ {0,3}\d{1,9}$/;
const initialChars = 8000;
/** Characters that are added at once. */
const minChars = 400;
const maxChars = 8000;
const maxCompleteChars = 16_000;
/** Of two frames: all was drawn in time, or far from it. */
const goodMs = 42;
const poorMs = 60;

/**
 * The blocks of a text that grows at its end. Only what is not settled is read anew; blocks that are settled keep their identity,
 * so that what draws them need not draw again.
 */
export class GrowingBlocks {
  readonly #lex: typeof toBlocks;
  #text = '';
  #settled: readonly Token[] = [];
  #settledChars = 0;
  /** The first block that is not settled, as it was read last. */
  #first: Token | undefined;

  /** `lex`: reads a text anew. */
  constructor(lex: typeof toBlocks = toBlocks) {
    this.#lex = lex;
  }

  /** `isGrowing`: more may come. */
  read(source: string, isGrowing: boolean): readonly Token[] {
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    if (!isGrowing && hasDefinitions.test(text)) return this.#lex(text);
    const unsettled = text.slice(this.#settledChars);
    const open = parseGrown(this.#first, unsettled, this.#lex) ?? this.#lex(unsettled);
    const all = [...this.#settled, ...open];
    const last = open.findLastIndex(({ type }) => type !== 'space');
    const settled = mayBecomeItem.test(open[last]?.raw ?? '') ? [] : open.slice(0, Math.max(last, 0));
    this.#first = open[settled.length];
    if (settled.length > 0) {
      this.#settled = [...this.#settled, ...settled];
      this.#settledChars += settled.reduce((sum, { raw }) => sum + raw.length, 0);
    }
    return all;
  }

  #forget(): void {
    this.#settled = [];
    this.#settledChars = 0;
    this.#first = undefined;
  }
}

type Lex = (text: string) => readonly Token[];

/**
 * The blocks of `text`, which begins with a block that was read before and has grown since: of a long table, list or block of
 * code only the end is read. Undefined where all of it has to be read.
 */
function parseGrown(block: Token | undefined, text: string, lex: Lex): readonly Token[] | undefined {
  if (block?.type === 'table') return parseGrownTable(block as Tokens.Table, text, lex);
  if (block?.type === 'list') return parseGrownList(block as Tokens.List, text, lex);
  return block?.type === 'code' ? parseGrownCode(block as Tokens.Code, text) : undefined;
}

/** Rows stand for themselves: the last one, which may have been cut, is read with what came behind it. */
function parseGrownTable(table: Tokens.Table, text: string, lex: Lex): readonly Token[] | undefined {
  // Pattern bound: the user's own tab: one block of an answer.
  const lines = table.raw.replace(/\n+$/, '').split('\n');
  if (lines.length < 4 || lines.length - 2 !== table.rows.length) return undefined;
  const head = `${lines.slice(0, 2).join('\n')}\n`;
  const unchanged = `${lines.slice(0, -1).join('\n')}\n`;
  if (!text.startsWith(unchanged)) return undefined;
  const [nextTable, ...following] = lex(head + text.slice(unchanged.length));
  if (nextTable?.type !== 'table') return undefined;
  const { rows, raw } = nextTable as Tokens.Table;
  return [{ ...table, raw: unchanged + raw.slice(head.length), rows: [...table.rows.slice(0, -1), ...rows] }, ...following];
}

/** Whether items have room between them is known by two of them. */
function parseGrownList(list: Tokens.List, text: string, lex: Lex): readonly Token[] | undefined {
  const unchanged = list.items.slice(0, -2);
  const chars = unchanged.reduce((sum, { raw }) => sum + raw.length, 0);
  if (unchanged.length === 0 || !text.startsWith(list.raw.slice(0, chars))) return undefined;
  const [nextList, ...following] = lex(text.slice(chars));
  const { ordered, loose, items, raw } = (nextList ?? {}) as Partial<Tokens.List>;
  if (nextList?.type !== 'list' || ordered !== list.ordered || loose !== list.loose || items === undefined) return undefined;
  return [{ ...list, raw: list.raw.slice(0, chars) + raw, items: [...unchanged, ...items] }, ...following];
}

// Pattern bound: the user's own tab: one block of an answer.
const opening = /^(`{3,}|~{3,})[^\n]*\n/;

/** Until its fence comes, all that follows is code. */
function parseGrownCode(code: Tokens.Code, text: string): readonly Token[] | undefined {
  const [line, fence = ''] = opening.exec(code.raw) ?? [];
  if (line === undefined || !text.startsWith(code.raw) || code.text.length + line.length < code.raw.length - 1) return undefined;
  const lastLine = Math.max(code.raw.lastIndexOf('\n'), line.length - 1);
  if (text.indexOf(`\n${fence}`, lastLine) !== -1 || /\n {1,3}[`~]{3}/.test(text.slice(lastLine))) return undefined;
  return [{ ...code, raw: text, text: text.slice(line.length).replace(/\n$/, '') }];
}

/** A text that may grow, as much of it as is to be drawn now. */
export function usePacedText(text: string, isComplete: boolean): string {
  const [pace] = useState(() => new Pace());
  const [visibleChars, setVisibleChars] = useState(Math.min(text.length, initialChars));
  const visible = useRef(visibleChars);
  useEffect(() => {
    let frame = 0;
    const drawFrame = (): void => {
      const chars = pace.frame(performance.now(), text.length - visible.current, isComplete);
      visible.current += chars;
      if (chars > 0) setVisibleChars(visible.current);
      if (visible.current < text.length || pace.isMeasuring) frame = requestAnimationFrame(drawFrame);
    };
    if (visible.current < text.length || pace.isMeasuring) frame = requestAnimationFrame(drawFrame);
    return () => cancelAnimationFrame(frame);
  }, [text, isComplete, pace]);
  return visibleChars < text.length ? text.slice(0, visibleChars) : text;
}

/**
 * How much of a text that waits is drawn with the next frame: the more, the sooner the last piece was drawn, and the more waits.
 * A piece that took long is followed by a pause of the same length.
 */
export class Pace {
  #chars = minChars;
  #added: { readonly atMs: number; readonly isFull: boolean; frames: number } | undefined;
  #notBeforeMs = 0;

  /** How long the last piece takes is not known yet. */
  get isMeasuring(): boolean {
    return this.#added !== undefined;
  }

  /** Called in each frame; gives how many characters are added in it. `isWhole`: no more of them come. */
  frame(nowMs: number, waitingChars: number, isComplete: boolean): number {
    if (!this.#isDrawn(nowMs) || waitingChars <= 0 || nowMs < this.#notBeforeMs) return 0;
    const minimum = Math.min(maxChars, waitingChars / 8);
    const chars = Math.min(waitingChars, isComplete ? maxCompleteChars : Math.max(this.#chars, minimum));
    this.#added = { atMs: nowMs, isFull: chars >= this.#chars, frames: 0 };
    return chars;
  }

  /** A piece is drawn in the frame behind the one that added it. */
  #isDrawn(nowMs: number): boolean {
    const added = this.#added;
    if (added === undefined) return true;
    added.frames += 1;
    if (added.frames < 2) return false;
    this.#added = undefined;
    const tookMs = nowMs - added.atMs;
    if (tookMs > poorMs) {
      this.#chars = Math.max(minChars, this.#chars / 2);
      this.#notBeforeMs = nowMs + tookMs;
    } else if (tookMs < goodMs && added.isFull) this.#chars = Math.min(maxChars, this.#chars * 2);
    return true;
  }
}
