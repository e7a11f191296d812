/** A document without a format. Each part starts a page in formats with pages. */
export interface Paper {
  /** File name. Its extension determines the format. */
  readonly file: string;
  readonly title: string;
  readonly parts: readonly Part[];
}

export interface Part {
  readonly heading: string;
  readonly paragraphs?: readonly string[];
  readonly table?: Table;
}

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Seeded pseudorandom numbers that are the same in every run. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns an integer from 0 (inclusive) to `most` (exclusive). */
  below(most: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * most);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}
