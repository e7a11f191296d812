/** Hands items from many writers to one reader, in the order they were put. */
export class Channel<Item> {
  readonly #items: { item: Item; taken: () => void }[] = [];
  #wake: () => void = () => undefined;
  #hasEnded = false;

  /** Resolves when the reader took it, at once if nobody reads any more: a writer that waits cannot flood the reader. */
  put(item: Item): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    return new Promise((taken) => {
      this.#items.push({ item, taken });
      this.#wake();
    });
  }

  /** What was put before is still read. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<Item, void> {
    try {
      for (;;) {
        const next = this.#items.shift();
        if (next !== undefined) {
          next.taken();
          yield next.item;
        } else if (this.#hasEnded) return;
        else await this.#more();
      }
    } finally {
      this.#hasEnded = true;
      for (const { taken } of this.#items.splice(0)) taken();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
