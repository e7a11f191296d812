import { Channel } from './channel.ts';

interface Arrival<Item> {
  readonly from: AsyncIterator<Item>;
  readonly result: IteratorResult<Item>;
}

interface Fault {
  readonly error: unknown;
}

/**
 * Items of all sources as they come, each source asked for its next only after its last was taken. The first failure ends
 * all. Each is listened to once an item: a race between all of them would leave something on the idle ones every time.
 */
export async function* mergeIterables<Item>(sources: readonly AsyncIterable<Item>[]): AsyncIterable<Item> {
  const open = new Set(sources.map((source) => source[Symbol.asyncIterator]()));
  const arrivals = new Channel<Arrival<Item> | Fault>();
  const ask = (from: AsyncIterator<Item>): void => {
    from.next().then(
      (result) => arrivals.put({ from, result }),
      (error: unknown) => arrivals.put({ error }),
    );
  };
  try {
    for (const from of open) ask(from);
    if (open.size === 0) return;
    for await (const arrival of arrivals.read()) {
      if ('error' in arrival) throw arrival.error;
      const { from, result } = arrival;
      if (result.done) open.delete(from);
      else {
        yield result.value;
        ask(from);
      }
      if (open.size === 0) return;
    }
  } finally {
    for (const from of open) from.return?.().catch(() => undefined);
  }
}
