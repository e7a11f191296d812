import type { Token, Tokens } from 'marked';
import { useEffect, useRef, useState } from 'react';
import { toBlocks } from './lexer.ts';

/** Start of a link definition. It can follow the links that use it, so a text with definitions must be parsed completely. */
// Pattern bound: linear. It starts at a line break and ends before the next one.
const linkDefinition = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;

/** A number that becomes an item of the previous list if a period follows. */
const possibleListMarker = /^ {0,3}\d{1,9}$/;
const initialChars = 8000;
/** Minimum number of characters to add per frame. */
const minChars = 400;
const maxChars = 8000;
const maxCompleteChars = 16_000;
/** Two frames that take less than this are fast, so the number of characters increases. */
const fastMs = 42;
/** Two frames that take more than this are slow, so the number of characters decreases. */
const slowMs = 60;

/** Parses a complete text. */
type Lex = typeof toBlocks;

/**
 * Parser for a text that grows at its end. Parses only unsettled blocks again, which are the last ones, because more text can
 * still change them. Settled blocks keep their identity, so that React does not render them again.
 */
export class GrowingBlocks {
  readonly #lex: Lex;
  #text = '';
  #settled: readonly Token[] = [];
  #settledChars = 0;
  /** First unsettled block, as last parsed. */
  #first: Token | undefined;

  constructor(lex: Lex = toBlocks) {
    this.#lex = lex;
  }

  /** Returns the blocks of a text. `isGrowing`: more text may follow. */
  parse(source: string, isGrowing: boolean): readonly Token[] {
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    if (!isGrowing && linkDefinition.test(text)) return this.#lex(text);
    const unsettled = text.slice(this.#settledChars);
    const open = parseGrown(this.#first, unsettled, this.#lex) ?? this.#lex(unsettled);
    const all = [...this.#settled, ...open];
    const last = open.findLastIndex(({ type }) => type !== 'space');
    const settled = possibleListMarker.test(open[last]?.raw ?? '') ? [] : open.slice(0, Math.max(last, 0));
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

/**
 * Parses `text`, which starts with a known block that has grown. Parses only the end of a long table, list, or code block. Returns
 * undefined if the complete text must be parsed.
 */
function parseGrown(block: Token | undefined, text: string, lex: Lex): readonly Token[] | undefined {
  if (block?.type === 'table') return parseGrownTable(block as Tokens.Table, text, lex);
  if (block?.type === 'list') return parseGrownList(block as Tokens.List, text, lex);
  return block?.type === 'code' ? parseGrownCode(block as Tokens.Code, text) : undefined;
}

/** Parses only the last row, which may have been incomplete, and the text after it. */
function parseGrownTable(table: Tokens.Table, text: string, lex: Lex): readonly Token[] | undefined {
  // Pattern bound: runs in the user's own tab, on one block of an answer.
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

/** The last two items are parsed again, because marked needs two items to recognize a loose list. */
function parseGrownList(list: Tokens.List, text: string, lex: Lex): readonly Token[] | undefined {
  const unchanged = list.items.slice(0, -2);
  const chars = unchanged.reduce((sum, { raw }) => sum + raw.length, 0);
  if (unchanged.length === 0 || !text.startsWith(list.raw.slice(0, chars))) return undefined;
  const [nextList, ...following] = lex(text.slice(chars));
  const { ordered, loose, items, raw } = (nextList ?? {}) as Partial<Tokens.List>;
  if (nextList?.type !== 'list' || ordered !== list.ordered || loose !== list.loose || items === undefined) return undefined;
  return [{ ...list, raw: list.raw.slice(0, chars) + raw, items: [...unchanged, ...items] }, ...following];
}

// Pattern bound: runs in the user's own tab, on one block of an answer.
const openingFence = /^(`{3,}|~{3,})[^\n]*\n/;

/** Until the closing fence, all text is code, so nothing is parsed. */
function parseGrownCode(code: Tokens.Code, text: string): readonly Token[] | undefined {
  const [line, fence = ''] = openingFence.exec(code.raw) ?? [];
  if (line === undefined || !text.startsWith(code.raw) || code.text.length + line.length < code.raw.length - 1) return undefined;
  const lastLine = Math.max(code.raw.lastIndexOf('\n'), line.length - 1);
  if (text.indexOf(`\n${fence}`, lastLine) !== -1 || /\n {1,3}[`~]{3}/.test(text.slice(lastLine))) return undefined;
  return [{ ...code, raw: text, text: text.slice(line.length).replace(/\n$/, '') }];
}

/** Returns the part of a growing text to render now. */
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
 * Computes how many waiting characters the next frame renders. The number doubles after a fast frame, halves after a slow frame,
 * and grows with the waiting text. A slow frame is followed by a pause of the same length.
 */
export class Pace {
  #chars = minChars;
  #added: { readonly atMs: number; readonly isFull: boolean; frames: number } | undefined;
  #notBeforeMs = 0;

  /** Whether the duration of the last rendering is still unknown. */
  get isMeasuring(): boolean {
    return this.#added !== undefined;
  }

  /** Called in each frame. Returns the number of characters to add. `isComplete`: no more text follows. */
  frame(nowMs: number, waitingChars: number, isComplete: boolean): number {
    if (!this.#measureFrame(nowMs) || waitingChars <= 0 || nowMs < this.#notBeforeMs) return 0;
    const minimum = Math.min(maxChars, waitingChars / 8);
    const chars = Math.min(waitingChars, isComplete ? maxCompleteChars : Math.max(this.#chars, minimum));
    this.#added = { atMs: nowMs, isFull: chars >= this.#chars, frames: 0 };
    return chars;
  }

  /** Measures the last rendering, which ends in the frame after the one that added the text. Returns whether it has ended. */
  #measureFrame(nowMs: number): boolean {
    const added = this.#added;
    if (added === undefined) return true;
    added.frames += 1;
    if (added.frames < 2) return false;
    this.#added = undefined;
    const tookMs = nowMs - added.atMs;
    if (tookMs > slowMs) {
      this.#chars = Math.max(minChars, this.#chars / 2);
      this.#notBeforeMs = nowMs + tookMs;
    } else if (tookMs < fastMs && added.isFull) this.#chars = Math.min(maxChars, this.#chars * 2);
    return true;
  }
}
