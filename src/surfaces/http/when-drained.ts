import type { ServerResponse } from 'node:http';
import { untilDrained } from '#base/http/until-drained.ts';
import { stalledMs } from './end-response.ts';

/** Resolves when the reader has caught up, or is gone; one that takes nothing for `stalledMs` is disconnected. */
export async function whenDrained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain) return;
  const stalled = setTimeout(() => response.destroy(), stalledMs);
  await untilDrained(response);
  clearTimeout(stalled);
}
