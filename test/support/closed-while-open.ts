import { expect } from 'vitest';
import type { ReceivedRequest } from './scripted-upstream.ts';

/** Time after which the test assumes a hang. Every default time limit for a connected upstream is longer. */
const maxWaitMs = 30_000;

/**
 * Disconnects the client while the upstream still replies, and waits until the service closes that exchange. Only the disconnect
 * can close the exchange, because the reply is unfinished and no time limit fires so early.
 */
export async function expectClosedOnDisconnect(
  received: readonly ReceivedRequest[] | ReceivedRequest,
  disconnect: () => unknown,
): Promise<void> {
  const all = [received].flat();
  expect(all.every(({ isOpen }) => isOpen)).toBe(true);
  disconnect();
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The exchange is still open ${maxWaitMs / 1000} s after its caller left`)),
      maxWaitMs,
    );
  });
  try {
    const ends = await Promise.race([Promise.all(all.map(({ closed }) => closed)), hang]);
    expect(ends.every(({ early }) => early)).toBe(true);
  } finally {
    clearTimeout(timer);
  }
}
