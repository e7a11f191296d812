import { Deferred } from './deferred.ts';
import { One } from './one.ts';

/**
 * Waits for the first item, so that a failure before it is known at once; the items then come as if nobody had looked. What
 * is known to be all there stays a `One`.
 */
export function peek<Item>(items: AsyncIterable<Item>): Promise<AsyncIterable<Item>> {
  return Promise.resolve(begun(items));
}

function begun<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> | Promise<AsyncIterable<Item>> {
  if (items instanceof Deferred) return items.coming.then(begun<Item>);
  return items instanceof One ? items : look(items);
}

async function look<Item>(items: AsyncIterable<Item>): Promise<AsyncIterable<Item>> {
  const rest = items[Symbol.asyncIterator]();
  return new Peeked(await rest.next(), rest);
}

class Peeked<Item> implements AsyncIterable<Item>, AsyncIterator<Item> {
  #first: IteratorResult<Item> | undefined;
  readonly #rest: AsyncIterator<Item>;

  constructor(first: IteratorResult<Item>, rest: AsyncIterator<Item>) {
    this.#first = first;
    this.#rest = rest;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item>> {
    if (this.#first === undefined) return this.#rest.next();
    const first = this.#first;
    this.#first = undefined;
    return Promise.resolve(first);
  }

  async return(): Promise<IteratorResult<Item>> {
    await this.#rest.return?.();
    return { done: true, value: undefined };
  }
}
