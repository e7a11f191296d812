import type { ServerResponse } from 'node:http';
import { stalledMs } from './end-response.ts';

/** Resolves when the reader has caught up, or is gone; one that takes nothing for `stalledMs` is disconnected. */
export function whenDrained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const stalled = setTimeout(() => response.destroy(), stalledMs);
    const go = (): void => {
      clearTimeout(stalled);
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}
