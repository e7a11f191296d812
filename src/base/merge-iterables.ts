interface Arrival<Item> {
  readonly from: AsyncIterator<Item>;
  readonly result: IteratorResult<Item>;
}

/** Items of all sources as they come, each source asked for its next only after its last was taken. The first failure ends all. */
export async function* mergeIterables<Item>(sources: readonly AsyncIterable<Item>[]): AsyncIterable<Item> {
  const arrivals = new Map<AsyncIterator<Item>, Promise<Arrival<Item>>>();
  const ask = (from: AsyncIterator<Item>): void => {
    arrivals.set(
      from,
      from.next().then((result) => ({ from, result })),
    );
  };
  for (const source of sources) ask(source[Symbol.asyncIterator]());
  try {
    while (arrivals.size > 0) {
      const { from, result } = await Promise.race(arrivals.values());
      arrivals.delete(from);
      if (result.done) continue;
      yield result.value;
      ask(from);
    }
  } finally {
    for (const [from, arrival] of arrivals) {
      arrival.catch(() => undefined);
      from.return?.().catch(() => undefined);
    }
  }
}
