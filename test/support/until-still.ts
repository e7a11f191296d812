import { vi } from 'vitest';

/** Resolves when a number has started to grow and then has not changed for 400 ms. */
export async function untilStill(read: () => number): Promise<void> {
  let before = 0;
  await vi.waitUntil(
    () => {
      const now = read();
      const isStill = now > 0 && now === before;
      before = now;
      return isStill;
    },
    { interval: 400, timeout: 15_000 },
  );
}
