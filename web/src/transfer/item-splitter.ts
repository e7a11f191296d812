const opening = /[[{]/;
const marks = /["[\]{}\\,]/g;

/** A file that is none of those that can be read, or larger than is read. */
export class UnreadableFile extends Error {
  readonly why: 'form' | 'large';

  constructor(why: 'form' | 'large') {
    super(why);
    this.name = 'UnreadableFile';
    this.why = why;
  }
}

/** Cuts the text of a JSON list into the texts of its items, piece by piece as it comes; anything but a list is one item. */
export class ItemSplitter {
  readonly #maxItemChars: number;
  #isList: boolean | undefined;
  #item = '';
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #isOver = false;

  constructor(maxItemChars: number) {
    this.#maxItemChars = maxItemChars;
  }

  /** The items that are complete now; '' for one that is too large. Throws UnreadableFile. */
  push(piece: string): readonly string[] {
    let from = this.#isList === undefined ? this.#begin(piece) : 0;
    const items: string[] = [];
    if (this.#isList === undefined || piece === '') return items;
    // What an escape of the piece before is about means nothing.
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (;;) {
      marks.lastIndex = at;
      const found = marks.exec(piece);
      if (found === null) break;
      at = found.index + 1;
      if (found[0] === '\\') {
        this.#isEscaped = at === piece.length;
        at += 1;
      } else if (this.#isCut(found[0])) {
        this.#keep(piece.slice(from, found.index));
        items.push(...this.#take());
        from = at;
      }
    }
    this.#keep(piece.slice(from));
    return items;
  }

  /** The last item, of what is no list. Throws UnreadableFile if the text ends before its end. */
  end(): readonly string[] {
    if (this.#isList === undefined || this.#depth > 0 || this.#isText) throw new UnreadableFile('form');
    return this.#isList ? [] : this.#take();
  }

  #begin(piece: string): number {
    const from = piece.search(/[^\s\uFEFF]/);
    if (from === -1) return piece.length;
    if (!opening.test(piece[from] ?? '')) throw new UnreadableFile('form');
    this.#isList = piece[from] === '[';
    this.#depth = this.#isList ? 1 : 0;
    return this.#isList ? from + 1 : from;
  }

  /** Takes one char that means something; whether an item of the list ends before it. */
  #isCut(mark: string): boolean {
    if (mark === '"') this.#isText = !this.#isText;
    if (this.#isText || mark === '"') return false;
    if (mark === '[' || mark === '{') this.#depth += 1;
    else if (mark === ']' || mark === '}') this.#depth -= 1;
    const isListEnd = this.#isList === true && this.#depth === 0 && mark === ']';
    return isListEnd || (this.#isList === true && this.#depth === 1 && mark === ',');
  }

  #keep(text: string): void {
    if (this.#isOver || this.#item.length + text.length > this.#maxItemChars) {
      this.#isOver = true;
      this.#item = '';
    } else this.#item += text;
  }

  #take(): readonly string[] {
    const item = this.#isOver ? '' : this.#item.trim();
    const isThere = this.#isOver || item !== '';
    this.#item = '';
    this.#isOver = false;
    return isThere ? [item] : [];
  }
}
