import type { Writable } from 'node:stream';

/** Resolves when the stream no longer needs to drain or is closed. */
export function waitForDrain(stream: Writable): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const onSettled = (): void => {
      stream.off('drain', onSettled);
      stream.off('close', onSettled);
      resolve();
    };
    stream.on('drain', onSettled);
    stream.on('close', onSettled);
  });
}
