/** What is not shown, with all that is in it. */
const hidden = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'select', 'button', 'textarea']);
const inline = new Set(
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

/** The text of a web page, with its headings, lists, tables and links in markdown; in time that grows with its length alone. */
export function htmlToText(html: string): string {
  return new PageReader(html).read();
}

class PageReader {
  readonly #html: string;
  readonly #lower: string;
  #text = '';
  #preformatted = 0;
  #links: string[] = [];

  constructor(html: string) {
    this.#html = html;
    this.#lower = html.toLowerCase();
  }

  read(): string {
    const html = this.#html;
    let at = 0;
    while (at < html.length) {
      const tag = html.indexOf('<', at);
      this.#say(html.slice(at, tag === -1 ? undefined : tag));
      if (tag === -1) break;
      at = this.#markup(tag);
    }
    return this.#text
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  /** Gives the place behind it. */
  #markup(at: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', at)) return placeBehind(html, '-->', at + 4);
    if (/[!?]/.test(html[at + 1] ?? '')) return placeBehind(html, '>', at);
    const name = /^<\/?([a-z][a-z0-9-]*)/.exec(this.#lower.slice(at, at + 40))?.[1];
    if (name === undefined) {
      this.#text += '<';
      return at + 1;
    }
    const end = endOfTag(html, at);
    const isClosing = html[at + 1] === '/';
    if (!isClosing && hidden.has(name)) return placeBehind(html, '>', placeBehind(this.#lower, `</${name}`, end));
    this.#tag(name, isClosing, html.slice(at, end));
    return end;
  }

  #tag(name: string, isClosing: boolean, tag: string): void {
    if (name === 'a') this.#link(isClosing, tag);
    if (inline.has(name)) return;
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted + (isClosing ? -1 : 1));
    this.#text += toBreak(name, isClosing);
  }

  #link(isClosing: boolean, tag: string): void {
    if (!isClosing) {
      // Pattern bound: linear. No space inside a run of spaces is followed by `href`, and a quotation mark ends the search of the one before.
      const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
      const address = decode(double ?? single ?? bare ?? '').trim();
      this.#links.push(/^(#|javascript:|data:|$)/i.test(address) ? '' : address);
      if (this.#links.at(-1) !== '') this.#text += '[';
      return;
    }
    const address = this.#links.pop() ?? '';
    if (address !== '') this.#text += `](${address})`;
  }

  #say(text: string): void {
    const decoded = decode(text);
    const said = this.#preformatted > 0 ? decoded : decoded.replace(/\s+/g, ' ');
    this.#text += /(^|\s)$/.test(this.#text.slice(-1)) && this.#preformatted === 0 ? said.trimStart() : said;
  }
}

/** What stands between the blocks of a page. */
function toBreak(name: string, isClosing: boolean): string {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (name === 'td' || name === 'th') return isClosing ? ' | ' : '';
  if (name === 'title') return isClosing ? '\n\n' : '# ';
  if (name === 'li') return isClosing ? '' : '\n- ';
  if (level !== undefined) return isClosing ? '\n\n' : `\n\n${'#'.repeat(Number(level))} `;
  return name === 'p' || name === 'table' ? '\n\n' : '\n';
}

function placeBehind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
}

/** Behind the tag; a bracket within quotes is none. */
function endOfTag(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at += 1) {
    const sign = html[at] as string;
    if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === '>') return at + 1;
    else if ((sign === '"' || sign === "'") && html[at - 1] === '=') quote = sign;
  }
  return html.length;
}

function decode(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole;
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
    },
  );
}
