/** Processes each value, with at most `count` values at a time. */
export async function eachConcurrently<Value>(
  values: Iterable<Value>,
  count: number,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const iterator = values[Symbol.iterator]();
  const next = async (): Promise<void> => {
    for (let step = iterator.next(); !step.done; step = iterator.next()) await work(step.value);
  };
  await Promise.all(Array.from({ length: count }, next));
}
