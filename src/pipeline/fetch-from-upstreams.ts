import { toAsyncIterable } from '#base/stream/async-items.ts';
import { type Attempts, type FailoverDeps, failover } from './failover.ts';

/**
 * Returns the result of the first upstream that has one. For work whose result is a single item. Rejects with an error that the
 * client may see, or with the reason of the signal.
 */
export async function fetchFromUpstreams<Result>(
  deps: FailoverDeps,
  attempts: Attempts<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let first: { readonly result: Result } | undefined;
  // Reads to the end, because an attempt that is left early counts as canceled.
  for await (const result of toAsyncIterable<Result>((sink) => failover(deps, attempts, sink), signal)) first ??= { result };
  if (first === undefined) throw new Error('The upstream returned no result and no error');
  return first.result;
}
