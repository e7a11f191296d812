/** One item as an iterable, at a fraction of what a generator costs. */
export class One<Item> implements AsyncIterable<Item>, AsyncIterator<Item, undefined> {
  #result: IteratorResult<Item, undefined>;

  constructor(item: Item) {
    this.#result = { done: false, value: item };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const result = this.#result;
    this.#result = { done: true, value: undefined };
    return Promise.resolve(result);
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    this.#result = { done: true, value: undefined };
    return Promise.resolve(this.#result);
  }
}
