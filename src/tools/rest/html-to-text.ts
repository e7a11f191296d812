/** Tags whose content is not visible. */
const hiddenTags = new Set('script style noscript template svg iframe object select button textarea'.split(' '));
/**
 * Hidden tags that are complete if they end with a slash, also in HTML. Browsers ignore the slash of `object` and `button`, but
 * show the text that follows.
 */
const selfClosingTags = new Set(['svg', 'object', 'button']);
const inlineTags = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '', ensp: ' ', emsp: ' ', thinsp: ' ' },
  ...{ ndash: '–', mdash: '—', hellip: '…', bull: '•', middot: '·', laquo: '«', raquo: '»', lsquo: '‘', rsquo: '’' },
  ...{ ldquo: '“', rdquo: '”', copy: '©', reg: '®', trade: '™', deg: '°', times: '×', euro: '€', pound: '£', sect: '§' },
  ...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß' },
  ...{ eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç' },
};

interface PageOptions {
  /** Whether the page is XHTML, where each tag that ends with a slash is a complete element. Default: false. */
  readonly isXml?: boolean;
}

/** Converts a web page to text. Headings, lists, tables, and links become Markdown. The time is linear in the length. */
export function htmlToText(html: string, options: PageOptions = {}): string {
  return new PageReader(html, options).toText();
}

class PageReader {
  readonly #html: string;
  /** The page with lowercase ASCII letters. Other letters are unchanged, because a change of their length would move positions. */
  readonly #lower: string;
  readonly #isXml: boolean;
  readonly #pieces: string[] = [];
  #lastCharacter = '';
  /** Number of open `pre` tags. */
  #preDepth = 0;
  /** Addresses of the open links. Empty for a link that is not written. */
  readonly #openLinks: string[] = [];

  constructor(html: string, { isXml = false }: PageOptions) {
    this.#html = html;
    this.#isXml = isXml;
    this.#lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }

  toText(): string {
    const html = this.#html;
    let position = 0;
    while (position < html.length) {
      const tagStart = html.indexOf('<', position);
      this.#addText(html.slice(position, tagStart === -1 ? undefined : tagStart));
      if (tagStart === -1) break;
      position = this.#readMarkup(tagStart);
    }
    return this.#pieces
      .join('')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  /** Reads the comment, declaration, or tag at a position. Returns the position after it. */
  #readMarkup(position: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', position)) return findEnd(html, '-->', position + 4);
    if (/[!?]/.test(html[position + 1] ?? '')) return findEnd(html, '>', position);
    const name = /^<\/?([a-z][a-z0-9-]*)/.exec(this.#lower.slice(position, position + 40))?.[1];
    if (name === undefined) {
      this.#append('<');
      return position + 1;
    }
    const end = findTagEnd(html, position);
    const isClosing = html[position + 1] === '/';
    const isEmpty = !isClosing && html.startsWith('/>', end - 2) && (this.#isXml || selfClosingTags.has(name));
    if (!isClosing && hiddenTags.has(name)) return isEmpty ? end : findEnd(html, '>', findEnd(this.#lower, `</${name}`, end));
    if (isEmpty) this.#addEmpty(name);
    else this.#addTag(name, isClosing, html.slice(position, end));
    return end;
  }

  /** Adds an element without content. The text that follows is not part of a link or a heading. */
  #addEmpty(name: string): void {
    if (!inlineTags.has(name)) this.#append(getSeparator(name, true));
  }

  #addTag(name: string, isClosing: boolean, tag: string): void {
    if (name === 'a') this.#addLink(isClosing, tag);
    if (inlineTags.has(name)) return;
    if (name === 'pre') this.#preDepth = Math.max(0, this.#preDepth + (isClosing ? -1 : 1));
    this.#append(getSeparator(name, isClosing));
  }

  #addLink(isClosing: boolean, tag: string): void {
    if (!isClosing) {
      // Pattern bound: linear. Each run of spaces follows at most one `href`, and each quoted value ends at the next quotation mark.
      const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
      const address = decodeEntities(double ?? single ?? bare ?? '').trim();
      this.#openLinks.push(/^(#|javascript:|data:|$)/i.test(address) ? '' : address);
      if (this.#openLinks.at(-1) !== '') this.#append('[');
      return;
    }
    const address = this.#openLinks.pop() ?? '';
    if (address !== '') this.#append(`](${address})`);
  }

  #addText(text: string): void {
    const decoded = decodeEntities(text);
    if (this.#preDepth > 0) return this.#append(decoded);
    const collapsed = decoded.replace(/\s+/g, ' ');
    this.#append(/(^|\s)$/.test(this.#lastCharacter) ? collapsed.trimStart() : collapsed);
  }

  #append(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#lastCharacter = piece.slice(-1);
  }
}

/** Returns the text that replaces a tag of a block. */
function getSeparator(name: string, isClosing: boolean): string {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (name === 'td' || name === 'th') return isClosing ? ' | ' : '';
  if (name === 'title') return isClosing ? '\n\n' : '# ';
  if (name === 'li') return isClosing ? '' : '\n- ';
  if (level !== undefined) return isClosing ? '\n\n' : `\n\n${'#'.repeat(Number(level))} `;
  return name === 'p' || name === 'table' ? '\n\n' : '\n';
}

/** Returns the position after the next occurrence of a terminator, or the length of the text. */
function findEnd(text: string, terminator: string, from: number): number {
  const index = text.indexOf(terminator, from);
  return index === -1 ? text.length : index + terminator.length;
}

/** Returns the position after the tag. Ignores brackets in quotes. */
function findTagEnd(html: string, from: number): number {
  let quote = '';
  for (let index = from; index < html.length; index += 1) {
    const character = html[index] as string;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '>') return index + 1;
    else if ((character === '"' || character === "'") && html[index - 1] === '=') quote = character;
  }
  return html.length;
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi,
    (match, hex?: string, decimal?: string, name?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] ?? match) : match;
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : match;
    },
  );
}
