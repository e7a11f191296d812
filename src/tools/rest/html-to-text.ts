/** Tags whose content is not visible. */
const hiddenTags = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'select',
  'button',
  'textarea',
]);
const inlineTags = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '', ensp: ' ', emsp: ' ', thinsp: ' ' },
  ...{ ndash: '–', mdash: '—', hellip: '…', bull: '•', middot: '·', laquo: '«', raquo: '»', lsquo: '‘', rsquo: '’' },
  ...{ ldquo: '“', rdquo: '”', copy: '©', reg: '®', trade: '™', deg: '°', times: '×', euro: '€', pound: '£', sect: '§' },
  ...{
    auml: 'ä',
    ouml: 'ö',
    uuml: 'ü',
    Auml: 'Ä',
    Ouml: 'Ö',
    Uuml: 'Ü',
    szlig: 'ß',
    eacute: 'é',
    egrave: 'è',
    agrave: 'à',
    ccedil: 'ç',
  },
};

/** Converts a web page to text. Headings, lists, tables, and links become Markdown. The time is linear in the length. */
export function htmlToText(html: string): string {
  return new PageReader(html).toText();
}

class PageReader {
  readonly #html: string;
  /** The page with small ASCII letters. Other letters are unchanged, because a change of their length would move positions. */
  readonly #lower: string;
  readonly #pieces: string[] = [];
  #lastCharacter = '';
  #preformatted = 0;
  #links: string[] = [];

  constructor(html: string) {
    this.#html = html;
    this.#lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }

  toText(): string {
    const html = this.#html;
    let position = 0;
    while (position < html.length) {
      const tag = html.indexOf('<', position);
      this.#addText(html.slice(position, tag === -1 ? undefined : tag));
      if (tag === -1) break;
      position = this.#readMarkup(tag);
    }
    return this.#pieces
      .join('')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  /** Returns the position after the markup. */
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
    if (!isClosing && hiddenTags.has(name)) return findEnd(html, '>', findEnd(this.#lower, `</${name}`, end));
    this.#addTag(name, isClosing, html.slice(position, end));
    return end;
  }

  #addTag(name: string, isClosing: boolean, tag: string): void {
    if (name === 'a') this.#addLink(isClosing, tag);
    if (inlineTags.has(name)) return;
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted + (isClosing ? -1 : 1));
    this.#append(toBreak(name, isClosing));
  }

  #addLink(isClosing: boolean, tag: string): void {
    if (!isClosing) {
      // Pattern bound: linear. No space inside a run of spaces is followed by `href`, and a quotation mark ends the search of the one before.
      const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
      const address = decode(double ?? single ?? bare ?? '').trim();
      this.#links.push(/^(#|javascript:|data:|$)/i.test(address) ? '' : address);
      if (this.#links.at(-1) !== '') this.#append('[');
      return;
    }
    const address = this.#links.pop() ?? '';
    if (address !== '') this.#append(`](${address})`);
  }

  #addText(text: string): void {
    const decoded = decode(text);
    const collapsed = this.#preformatted > 0 ? decoded : decoded.replace(/\s+/g, ' ');
    this.#append(/(^|\s)$/.test(this.#lastCharacter) && this.#preformatted === 0 ? collapsed.trimStart() : collapsed);
  }

  #append(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#lastCharacter = piece.slice(-1);
  }
}

/** Returns the separator between blocks of a page. */
function toBreak(name: string, isClosing: boolean): string {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (name === 'td' || name === 'th') return isClosing ? ' | ' : '';
  if (name === 'title') return isClosing ? '\n\n' : '# ';
  if (name === 'li') return isClosing ? '' : '\n- ';
  if (level !== undefined) return isClosing ? '\n\n' : `\n\n${'#'.repeat(Number(level))} `;
  return name === 'p' || name === 'table' ? '\n\n' : '\n';
}

function findEnd(text: string, mark: string, from: number): number {
  const index = text.indexOf(mark, from);
  return index === -1 ? text.length : index + mark.length;
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

function decode(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi,
    (match, hex?: string, decimal?: string, name?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] ?? match) : match;
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : match;
    },
  );
}
