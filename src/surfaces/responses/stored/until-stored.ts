import type { Clock } from '#base/time/clock.ts';

const retryMs = 2_000;
const mostTries = 300;

/** Does once more what the store did not take, again and again while nobody waits for it; undefined if it never took it. Never fails. */
export async function untilStored<Value>(
  clock: Pick<Clock, 'sleep'>,
  write: () => Promise<Value>,
): Promise<{ readonly value: Value } | undefined> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    await clock.sleep(retryMs, new AbortController().signal);
    const written = await write().then(
      (value) => ({ value }),
      () => undefined,
    );
    if (written !== undefined) return written;
  }
  return undefined;
}
