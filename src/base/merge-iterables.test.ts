import { describe, expect, it } from 'vitest';
import { mergeIterables } from './merge-iterables.ts';

/** Gives items, then fails where it is told to; remembers how often it was asked, and whether it was told to stop. */
class Source implements AsyncIterable<number>, AsyncIterator<number> {
  readonly #items: number[];
  readonly #failure: Error | undefined;
  asked = 0;
  hasStopped = false;

  constructor(items: readonly number[], failure?: Error) {
    this.#items = [...items];
    this.#failure = failure;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<number>> {
    this.asked += 1;
    const value = this.#items.shift();
    if (value !== undefined) return { done: false, value };
    if (this.#failure !== undefined) throw this.#failure;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<number>> {
    this.hasStopped = true;
    return { done: true, value: undefined };
  }
}

/** Never gives an item; `listeners` counts who waits for it, or for what comes of that. */
class Idle implements AsyncIterable<number> {
  listeners = 0;

  [Symbol.asyncIterator](): AsyncIterator<number> {
    return { next: () => this.#heard(new Promise(() => undefined)) };
  }

  #heard<Value>(pending: Promise<Value>): Promise<Value> {
    const then = pending.then.bind(pending) as (...handlers: unknown[]) => Promise<Value>;
    const counted = (...handlers: unknown[]): Promise<Value> => {
      this.listeners += 1;
      return this.#heard(then(...handlers));
    };
    return Object.defineProperty(pending, 'then', { value: counted });
  }
}

async function all(sources: readonly AsyncIterable<number>[]): Promise<number[]> {
  const items: number[] = [];
  for await (const item of mergeIterables(sources)) items.push(item);
  return items;
}

describe('merged iterables', () => {
  it('take turns, and end with the last of them', async () => {
    expect(await all([new Source([1, 2, 3]), new Source([]), new Source([11, 12])])).toEqual([1, 11, 2, 12, 3]);
    expect(await all([])).toEqual([]);
  });

  it('are asked for no more than is taken', async () => {
    const source = new Source([1, 2, 3]);
    for await (const item of mergeIterables([source])) expect(source.asked).toBe(item);
  });

  it('end with the first failure, and are told to stop', async () => {
    const other = new Source([1, 2, 3, 4, 5, 6]);
    const failure = new Error('broken');
    await expect(all([new Source([10], failure), other])).rejects.toBe(failure);
    expect(other.hasStopped).toBe(true);
  });

  it('are told to stop when nobody reads on, the one that was read last too', async () => {
    const sources = [new Source([1, 2]), new Source([11, 12])];
    for await (const item of mergeIterables(sources)) if (item === 1) break;
    expect(sources.map(({ hasStopped }) => hasStopped)).toEqual([true, true]);
  });

  it('pile nothing up on one that is idle while another brings items', async () => {
    const idle = new Idle();
    const busy = new Source(Array.from({ length: 100 }, (_, nth) => nth + 1));
    for await (const item of mergeIterables([idle, busy])) if (item === 100) break;
    expect(idle.listeners).toBe(1);
  });
});
