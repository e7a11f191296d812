import type { Token, TokenizerAndRendererExtension, Tokens } from 'marked';

/** An inline element that models write as HTML. It has no attributes. */
export interface TagToken {
  readonly type: 'tag';
  readonly raw: string;
  readonly name: InlineTag;
  readonly tokens: Token[];
}

/** A collapsible section: `<details>` with an optional `<summary>`. */
export interface DetailsToken {
  readonly type: 'details';
  readonly raw: string;
  readonly isOpen: boolean;
  readonly summary: Token[];
  readonly tokens: Token[];
}

/** A quote that starts with `[!NOTE]` or another kind. */
export interface AlertToken {
  readonly type: 'alert';
  readonly raw: string;
  readonly kind: AlertKind;
  readonly tokens: Token[];
}

/** A reference to a footnote, such as `[^1]`. */
export interface FootnoteRefToken {
  readonly type: 'footnoteRef';
  readonly raw: string;
  readonly id: string;
}

/** A footnote, such as `[^1]: Text`. */
export interface FootnoteToken {
  readonly type: 'footnote';
  readonly raw: string;
  readonly id: string;
  readonly tokens: Token[];
}

const inlineTags = ['b', 'em', 'i', 'kbd', 'mark', 's', 'small', 'strong', 'sub', 'sup', 'u'] as const;
type InlineTag = (typeof inlineTags)[number];
type AlertKind = 'note' | 'tip' | 'important' | 'warning' | 'caution';

/** Longer sections are shown as their source, because an unclosed section is parsed again with each addition. */
const maxDetailsChars = 20_000;
const maxDepth = 5;
/** Maximum length of the search for the next footnote. Each paragraph repeats this search. */
const lookAheadChars = 1000;

const details: TokenizerAndRendererExtension = {
  name: 'details',
  level: 'block',
  tokenizer(source) {
    const [head = ''] = /^ {0,3}<details(?:\s[^>\n]{0,100})?>/i.exec(source) ?? [];
    if (head === '') return undefined;
    const end = findDetailsEnd(source.slice(0, maxDetailsChars), head.length);
    if (end === undefined) return undefined;
    const inner = source.slice(head.length, end.innerEnd);
    const [summaryPart = '', summaryText = ''] =
      /^\s*<summary(?:\s[^>\n]{0,100})?>([\s\S]{0,1000}?)<\/summary>/i.exec(inner) ?? [];
    const summary: Token[] = [];
    this.lexer.inline(summaryText.trim(), summary);
    const tokens = this.lexer.blockTokens(inner.slice(summaryPart.length).replace(/^\s*\n/, ''), []);
    return { type: 'details', raw: source.slice(0, end.end), isOpen: /\sopen\b/i.test(head), summary, tokens };
  },
};

/** Returns the end of the content and of the section. An unclosed section contains the rest of the text. */
function findDetailsEnd(source: string, from: number): { readonly innerEnd: number; readonly end: number } | undefined {
  let depth = 1;
  for (const { 0: tag, index } of source.slice(from).matchAll(/<details[\s>]|<\/details>/gi)) {
    depth += tag.startsWith('</') ? -1 : 1;
    if (depth > maxDepth) return undefined;
    if (depth > 0) continue;
    const innerEnd = from + index;
    const [gap = ''] = /^[ \t]*\n*/.exec(source.slice(innerEnd + tag.length)) ?? [];
    return { innerEnd, end: innerEnd + tag.length + gap.length };
  }
  return source.length < maxDetailsChars ? { innerEnd: source.length, end: source.length } : undefined;
}

const alert: TokenizerAndRendererExtension = {
  name: 'alert',
  level: 'block',
  tokenizer(source) {
    const match = /^ {0,3}> ?\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)((?: {0,3}>[^\n]*(?:\n|$))*)/i.exec(source);
    if (match === null) return undefined;
    const [raw, kind = '', lines = ''] = match;
    const tokens = this.lexer.blockTokens(lines.replace(/^ {0,3}> ?/gm, ''), []);
    return { type: 'alert', raw, kind: kind.toLowerCase(), tokens };
  },
};

const footnote: TokenizerAndRendererExtension = {
  name: 'footnote',
  level: 'block',
  start(source) {
    const at = source.slice(0, lookAheadChars).search(/\n {0,3}\[\^/);
    return at === -1 ? undefined : at + 1;
  },
  tokenizer(source) {
    const match = /^ {0,3}\[\^([^\]\s]{1,40})\]:([^\n]*(?:\n(?: {2}|\t)[^\n]+)*)(?:\n+|$)/.exec(source);
    if (match === null) return undefined;
    const tokens: Token[] = [];
    this.lexer.inline((match[2] ?? '').trim().replace(/\n\s+/g, '\n'), tokens);
    return { type: 'footnote', raw: match[0], id: match[1], tokens };
  },
};

const footnoteRef: TokenizerAndRendererExtension = {
  name: 'footnoteRef',
  level: 'inline',
  start(source) {
    const at = source.slice(0, lookAheadChars).search(/\[\^/);
    return at === -1 ? undefined : at;
  },
  tokenizer(source) {
    const match = /^\[\^([^\]\s]{1,40})\]/.exec(source);
    return match === null ? undefined : { type: 'footnoteRef', raw: match[0], id: match[1] };
  },
};

/** Parts of GitHub's dialect that models write: sections, alerts, and footnotes. */
export const githubExtensions: readonly TokenizerAndRendererExtension[] = [details, alert, footnote, footnoteRef];

/** Nests the parts between known tags, such as `<sub>`, and replaces `<br>`. Other tags stay text. */
export function nestTags(tokens: readonly Token[]): readonly (Token | TagToken)[] {
  if (tokens.every(({ type }) => type !== 'html')) return tokens;
  const nested: (Token | TagToken)[] = [];
  const closings = listClosingTags(tokens);
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    const name = token.type === 'html' ? readTag(token.raw) : undefined;
    const end = name === undefined || name === 'br' ? undefined : findClosingTag(closings.get(name), at);
    if (name === 'br') nested.push({ type: 'br', raw: token.raw } as Tokens.Br);
    else if (name === undefined || end === undefined) nested.push(token);
    else {
      nested.push({ type: 'tag', raw: token.raw, name, tokens: tokens.slice(at + 1, end) });
      at = end;
    }
  }
  return nested;
}

function readTag(raw: string): InlineTag | 'br' | undefined {
  if (/^<br\s*\/?>$/i.test(raw.trim())) return 'br';
  const [, name = ''] = /^<([a-z]+)>$/i.exec(raw) ?? [];
  return inlineTags.find((tag) => tag === name.toLowerCase());
}

/** Returns the positions of closing tags by name, the last ones first. */
function listClosingTags(tokens: readonly Token[]): ReadonlyMap<string, number[]> {
  const closings = new Map<string, number[]>(inlineTags.map((name) => [name, []]));
  for (let at = tokens.length - 1; at > 0; at -= 1) {
    const { type, raw } = tokens[at] as Token;
    if (type === 'html' && raw.startsWith('</')) closings.get(raw.slice(2, -1).toLowerCase())?.push(at);
  }
  return closings;
}

/** Returns the first closing tag after a position. Removes earlier ones, so that many tags take linear time. */
function findClosingTag(positions: number[] = [], from: number): number | undefined {
  while ((positions.at(-1) ?? from) < from) positions.pop();
  return positions.at(-1);
}
