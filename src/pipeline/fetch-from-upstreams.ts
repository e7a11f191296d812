import { toAsyncIterable } from '#base/stream/async-items.ts';
import { type Attempts, type FailoverDeps, failover } from './failover.ts';

/** The result of the first upstream that gives one, for work whose result comes in one piece. Rejects with what the caller may be told, or the signal's reason. */
export async function fetchFromUpstreams<Result>(
  deps: FailoverDeps,
  attempts: Attempts<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for await (const result of toAsyncIterable<Result>((sink) => failover(deps, attempts, sink), signal)) return result;
  throw new Error('an upstream gave no result and no failure');
}
