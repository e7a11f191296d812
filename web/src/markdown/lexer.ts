import { Lexer, Marked, type MarkedExtension, type Token, Tokenizer, type TokenizerAndRendererExtension } from 'marked';
import { githubExtensions } from './html-parts.ts';

/**
 * * CJK characters as the CJK-friendly amendment of CommonMark defines them (wide characters that are not emoji, and Hangul), as
 * of Unicode 16, with the variation selectors that can follow them. https://github.com/tats-u/markdown-cjk-friendly
 */
const cjk = [
  '\\u1100-\\u11ff\\u20a9\\u2329\\u232a\\u2630-\\u2637\\u268a-\\u268f\\u2e80-\\u2e99\\u2e9b-\\u2ef3\\u2f00-\\u2fd5',
  '\\u2ff0-\\u303e\\u3041-\\u3096\\u3099-\\u30ff\\u3105-\\u312f\\u3131-\\u318e\\u3190-\\u31e5\\u31ef-\\u321e',
  '\\u3220-\\u3247\\u3250-\\ua48c\\ua490-\\ua4c6\\ua960-\\ua97c\\uac00-\\ud7a3\\ud7b0-\\ud7c6\\ud7cb-\\ud7fb',
  '\\uf900-\\ufaff\\ufe00-\\ufe02\\ufe10-\\ufe19\\ufe30-\\ufe52\\ufe54-\\ufe66\\ufe68-\\ufe6b\\uff01-\\uffbe',
  '\\uffc2-\\uffc7\\uffca-\\uffcf\\uffd2-\\uffd7\\uffda-\\uffdc\\uffe0-\\uffe6\\uffe8-\\uffee',
  '\\u{16fe0}-\\u{16fe4}\\u{16ff0}-\\u{16ff6}\\u{17000}-\\u{18cd5}\\u{18cff}-\\u{18d1e}\\u{18d80}-\\u{18df2}',
  '\\u{1aff0}-\\u{1aff3}\\u{1aff5}-\\u{1affb}\\u{1affd}\\u{1affe}\\u{1b000}-\\u{1b122}\\u{1b132}',
  '\\u{1b150}-\\u{1b152}\\u{1b155}\\u{1b164}-\\u{1b167}\\u{1b170}-\\u{1b2fb}\\u{1d300}-\\u{1d356}\\u{1d360}-\\u{1d376}',
  '\\u{1f200}\\u{1f202}\\u{1f210}-\\u{1f219}\\u{1f21b}-\\u{1f22e}\\u{1f230}\\u{1f231}\\u{1f237}\\u{1f23b}',
  '\\u{1f240}-\\u{1f248}\\u{1f260}-\\u{1f265}\\u{20000}-\\u{3fffd}\\u{e0100}-\\u{e01ef}',
].join('');
// Pattern bound: one character.
const cjkCharacter = new RegExp(`^[${cjk}]`, 'u');

/** Punctuation that is not CJK. A tilde may stand within emphasis. */
const punctuation = `(?![~${cjk}])[\\p{P}\\p{S}]`;
const punctuationOrCjk = `(?!~)[\\p{P}\\p{S}${cjk}]`;

/**
 * Builds the pattern that marked uses to find the end of emphasis. Groups 1 and 2 match runs that can only end it, groups 3 and 4
 * match runs that can only start it, and groups 5 and 6 match runs that can do both. `extra` has alternatives for more word
 * characters.
 */
function buildCloser({ skipped, mark, run, extra }: Readonly<Record<'skipped' | 'mark' | 'run' | 'extra', string>>): RegExp {
  const word = `(?:(?![${cjk}])[^\\s\\p{P}\\p{S}]${extra})`;
  const wordOrCjk = `(?:[^\\s\\p{P}\\p{S}]|[${cjk}]${extra})`;
  const parts = [
    skipped,
    `(?!${mark})${punctuationOrCjk}(${run})(?=\\s|$)`,
    `${word}(${run})(?!${mark})(?=${punctuation}|\\s|$)`,
    `(?!${mark})(?:${punctuation}|\\s)(${run})(?=${word})`,
    `\\s(${run})(?!${mark})(?=${punctuationOrCjk})`,
    `(?!${mark})${punctuationOrCjk}(${run})(?!${mark})(?=${punctuationOrCjk})`,
    `${wordOrCjk}(${run})(?=${wordOrCjk})`,
  ];
  // Pattern bound: each match takes one run of marks and the text before it, like the replaced pattern of marked.
  return new RegExp(parts.join('|'), 'gu');
}

const inlineRules = {
  ...Lexer.rules.inline.gfm,
  // Groups 1 and 3 mean that punctuation follows. A run of `_` keeps the rules of CommonMark, which the amendment does not change.
  // Pattern bound: linear, one run of marks at the start.
  emStrongLDelim: new RegExp(`^(?:\\*+(?:((?!\\*)${punctuation})|([^\\s*]))?)|^_+(?:((?![_~])[\\p{P}\\p{S}])|([^\\s_]))?`, 'u'),
  emStrongRDelimAst: buildCloser({
    skipped: '^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])',
    mark: '\\*',
    run: '\\*+',
    extra: '|~',
  }),
  // Pattern bound: four characters.
  delLDelim: new RegExp(`^~~?(?:(${punctuation})|[^\\s~])`, 'u'),
  delRDelim: buildCloser({ skipped: '^[^~]+(?=[^~])', mark: '~', run: '~~?', extra: '' }),
};

/** Marked fills each row up to the columns of the header, so a short text could have millions of cells. */
const maxColumns = 100;

/** Shows wider tables as text. */
const boundedTables: MarkedExtension = {
  tokenizer: {
    table(source) {
      // Pattern bound: linear, up to the first line break.
      const [header = ''] = /^[^\n]*/.exec(source) ?? [];
      return header.split('|', maxColumns + 3).length > maxColumns + 2 ? undefined : Tokenizer.prototype.table.call(this, source);
    },
  },
};

/** Parses emphasis next to Chinese, Japanese, and Korean characters and punctuation as the amendment specifies. */
const cjkEmphasis: MarkedExtension = {
  tokenizer: {
    emStrong(source, masked, before) {
      setRules(this);
      return Tokenizer.prototype.emStrong.call(
        this,
        source,
        masked,
        source.startsWith('*') ? readPreviousCharacter(source, masked, before) : before,
      );
    },
    del(source, masked, before) {
      setRules(this);
      return Tokenizer.prototype.del.call(this, source, masked, readPreviousCharacter(source, masked, before));
    },
  },
};

/** Marked sets the rules of a tokenizer again for each text. */
function setRules(tokenizer: { rules: Tokenizer['rules'] }): void {
  if (tokenizer.rules.inline !== inlineRules) tokenizer.rules = { ...tokenizer.rules, inline: inlineRules };
}

/** Returns a space in place of a CJK character, because emphasis may start after both, regardless of the next character. */
function readPreviousCharacter(source: string, masked: string, before = ''): string {
  const at = masked.length - source.length;
  // Marked passes one code unit, which may be half of a character.
  const character = [...masked.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
  return before !== '' && cjkCharacter.test(character) ? ' ' : before;
}

/** A formula: `$$…$$` and `\[…\]` on their own lines, `$…$` and `\(…\)` within text. */
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
    // The bounded look-ahead splits long texts. Without it, hostile texts would take quadratic time.
    const at = source.slice(0, lookAheadChars).search(/\$|\\\(/);
    return at === -1 && source.length > lookAheadChars ? lookAheadChars : at;
  },
  tokenizer(source) {
    // Unclosed marks are not a formula. Reporting the complete run avoids another search for each of them.
    const run = /^\${3,}/.exec(source);
    if (run !== null) return { type: 'text', raw: run[0], text: run[0] };
    // An amount of money is not a formula, so marks have no space inside and no digit after them.
    const match =
      /^(?:\$\$([^$\n]{1,2000}?)\$\$|\$(?![\s$])((?:[^$\\\n]|\\.){0,2000}?[^\s$\\])\$(?!\d)|\\\(([^\n]{1,2000}?)\\\))/.exec(
        source,
      );
    return match === null
      ? undefined
      : { type: 'mathText', raw: match[0], text: (match[1] ?? match[2] ?? match[3] ?? '').trim() };
  },
};

const marked = new Marked({ gfm: true, extensions: [mathBlock, mathText, ...githubExtensions] }, cjkEmphasis, boundedTables);

/** Parses the blocks of a markdown text. */
export function toBlocks(text: string): readonly Token[] {
  return marked.lexer(text);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Decodes character references. */
export function decodeCharacterReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (match, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? match;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : match;
  });
}
