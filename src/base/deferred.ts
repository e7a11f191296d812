/** Items of an iterable that is yet to come; what its promise rejects with is thrown to the reader of the first item. */
export class Deferred<Item> implements AsyncIterable<Item>, AsyncIterator<Item> {
  readonly coming: Promise<AsyncIterable<Item>>;
  #items: AsyncIterator<Item> | undefined;

  constructor(coming: Promise<AsyncIterable<Item>>) {
    this.coming = coming;
    coming.catch(ignore);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item>> {
    return this.#items === undefined ? this.#first() : this.#items.next();
  }

  async return(): Promise<IteratorResult<Item>> {
    this.#items ??= (await this.coming)[Symbol.asyncIterator]();
    await this.#items.return?.();
    return { done: true, value: undefined };
  }

  async #first(): Promise<IteratorResult<Item>> {
    this.#items = (await this.coming)[Symbol.asyncIterator]();
    return this.#items.next();
  }
}

/** Whoever reads hears of it; nobody has to. */
function ignore(): void {}
