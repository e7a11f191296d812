import { createRandomSecret } from '#base/secrets/seal.ts';
import { WorkerLimitStore } from '#stores/workers/limit-store.ts';
import { WorkerBroadcast } from '#stores/workers/node-broadcast.ts';
import { WorkerPerRequestKeys } from '#stores/workers/per-request-keys.ts';
import type { Closeable, EphemeralStores, StoreDeps } from '../node/stores.ts';
import type { WorkerContext } from './worker-context.ts';

/** Opens the stores for data that lives as long as a call or a limit window, which the workers of a node share. */
export function openWorkerStores(
  { channel, handlers, worker }: WorkerContext,
  { clock, reportError }: StoreDeps,
): Closeable<EphemeralStores> {
  const limits = new WorkerLimitStore(channel, clock);
  const perRequestKeys = new WorkerPerRequestKeys({ channel, worker, createRandomPart: createRandomSecret, reportError });
  const broadcast = new WorkerBroadcast(channel);
  handlers.set('limits.recall', limits.returnShares);
  handlers.set('keys.find', perRequestKeys.findStored);
  handlers.set('keys.report', perRequestKeys.onReport);
  handlers.set('notice', broadcast.receive);
  return { limits, perRequestKeys, broadcast, shared: [], close: () => limits.close() };
}
