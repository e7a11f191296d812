const openingChar = /[[{]/;
const structuralChars = /["[\]{}\\,]/g;

/** Thrown if the format of a file is unknown, or if the file is too large. */
export class UnreadableFileError extends Error {
  readonly reason: 'format' | 'large';

  constructor(reason: 'format' | 'large') {
    super(reason);
    this.name = 'UnreadableFileError';
    this.reason = reason;
  }
}

/** Splits a JSON list into its items while the text arrives. Other JSON is one item. */
export class ItemSplitter {
  readonly #maxItemChars: number;
  #isList: boolean | undefined;
  #item = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isTooLarge = false;

  constructor(maxItemChars: number) {
    this.#maxItemChars = maxItemChars;
  }

  /** Returns the items that are complete now, with '' for an item that is too large. Throws `UnreadableFileError`. */
  push(piece: string): readonly string[] {
    let start = this.#isList === undefined ? this.#start(piece) : 0;
    const items: string[] = [];
    if (this.#isList === undefined || piece === '') return items;
    // An escape in the previous piece applies to the first character.
    let position = this.#isEscaped ? start + 1 : start;
    this.#isEscaped = false;
    for (;;) {
      structuralChars.lastIndex = position;
      const match = structuralChars.exec(piece);
      if (match === null) break;
      position = match.index + 1;
      if (match[0] === '\\') {
        this.#isEscaped = position === piece.length;
        position += 1;
      } else if (this.#endsItem(match[0])) {
        this.#append(piece.slice(start, match.index));
        items.push(...this.#flush());
        start = position;
      }
    }
    this.#append(piece.slice(start));
    return items;
  }

  /** Returns the last item of a file without a list. Throws `UnreadableFileError` if the text is incomplete. */
  end(): readonly string[] {
    if (this.#isList === undefined || this.#depth > 0 || this.#isInString) throw new UnreadableFileError('format');
    return this.#isList ? [] : this.#flush();
  }

  #start(piece: string): number {
    const start = piece.search(/[^\s\uFEFF]/);
    if (start === -1) return piece.length;
    if (!openingChar.test(piece[start] ?? '')) throw new UnreadableFileError('format');
    this.#isList = piece[start] === '[';
    this.#depth = this.#isList ? 1 : 0;
    return this.#isList ? start + 1 : start;
  }

  /** Processes one structural character. Returns whether an item of the list ends before it. */
  #endsItem(mark: string): boolean {
    if (mark === '"') this.#isInString = !this.#isInString;
    if (this.#isInString || mark === '"') return false;
    if (mark === '[' || mark === '{') this.#depth += 1;
    else if (mark === ']' || mark === '}') this.#depth -= 1;
    const isListEnd = this.#isList === true && this.#depth === 0 && mark === ']';
    return isListEnd || (this.#isList === true && this.#depth === 1 && mark === ',');
  }

  #append(text: string): void {
    if (this.#isTooLarge || this.#item.length + text.length > this.#maxItemChars) {
      this.#isTooLarge = true;
      this.#item = '';
    } else this.#item += text;
  }

  #flush(): readonly string[] {
    const item = this.#isTooLarge ? '' : this.#item.trim();
    const hasItem = this.#isTooLarge || item !== '';
    this.#item = '';
    this.#isTooLarge = false;
    return hasItem ? [item] : [];
  }
}
