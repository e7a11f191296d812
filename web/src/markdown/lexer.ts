import { Marked, type Token, type TokenizerAndRendererExtension } from 'marked';
import { cjkEmphasis } from './cjk-emphasis.ts';

/** A formula: `$$…$$` and `\[…\]` in a line of their own, `$…$` and `\(…\)` in a text. */
export interface MathToken {
  readonly type: 'mathBlock' | 'mathText';
  readonly raw: string;
  readonly text: string;
}

const lookAheadChars = 1000;

const mathBlock: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  start(source) {
    const at = source.search(/\n {0,3}(\$\$|\\\[)/);
    return at === -1 ? undefined : at + 1;
  },
  tokenizer(source) {
    const match = /^ {0,3}(?:\$\$((?:[^$\\]|\\.)+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/.exec(source);
    return match === null ? undefined : { type: 'mathBlock', raw: match[0], text: (match[1] ?? match[2] ?? '').trim() };
  },
};

const mathText: TokenizerAndRendererExtension = {
  name: 'mathText',
  level: 'inline',
  start(source) {
    // A bounded look ahead, which cuts long texts in pieces: without it hostile texts take the square of their length.
    const at = source.slice(0, lookAheadChars).search(/\$|\\\(/);
    return at === -1 && source.length > lookAheadChars ? lookAheadChars : at;
  },
  tokenizer(source) {
    // Marks without end are no formula either; told at once, or each of them would be looked at anew.
    const run = /^\${3,}/.exec(source);
    if (run !== null) return { type: 'text', raw: run[0], text: run[0] };
    // A sum of money is no formula: no blank inside the marks, no digit behind them.
    const match =
      /^(?:\$\$([^$\n]{1,2000}?)\$\$|\$(?![\s$])((?:[^$\\\n]|\\.){0,2000}?[^\s$\\])\$(?!\d)|\\\(([^\n]{1,2000}?)\\\))/.exec(
        source,
      );
    return match === null
      ? undefined
      : { type: 'mathText', raw: match[0], text: (match[1] ?? match[2] ?? match[3] ?? '').trim() };
  },
};

const marked = new Marked({ gfm: true, extensions: [mathBlock, mathText] }, cjkEmphasis);

/** The blocks of a markdown text. */
export function toBlocks(text: string): readonly Token[] {
  return marked.lexer(text);
}
