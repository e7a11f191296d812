/** Items of an iterable that is yet to come; what its promise rejects with is thrown to the reader of the first item. */
export class Deferred<Item> implements AsyncIterable<Item>, AsyncIterator<Item> {
  readonly coming: Promise<AsyncIterable<Item>>;
  #items: AsyncIterator<Item> | undefined;

  readonly #came = (items: AsyncIterable<Item>): Promise<IteratorResult<Item>> => {
    this.#items = items[Symbol.asyncIterator]();
    return this.#items.next();
  };

  constructor(coming: Promise<AsyncIterable<Item>>) {
    this.coming = coming;
    coming.catch(() => undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item>> {
    return this.#items === undefined ? this.coming.then(this.#came) : this.#items.next();
  }

  async return(): Promise<IteratorResult<Item>> {
    this.#items ??= (await this.coming)[Symbol.asyncIterator]();
    await this.#items.return?.();
    return { done: true, value: undefined };
  }
}
