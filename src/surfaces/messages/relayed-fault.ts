import type { ParleyError } from '#contract/errors.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** Statuses of an upstream that refuses Parley, not the caller: what it says of that is not the caller's to act on. */
const ofOurs: ReadonlySet<number> = new Set([401, 402, 403]);

/**
 * What a relayed stream broke off with, as its upstream put it: clients decide by the type of an error whether they try
 * again. What the upstream did not put in words of the dialect stays in ours.
 */
export function inOwnWords(
  error: ParleyError,
): Pick<ParleyError, 'status' | 'message' | 'param' | 'displayMessage' | 'overflow'> {
  const { cause, overflow } = error;
  if (!(cause instanceof UpstreamFault) || cause.status === undefined || ofOurs.has(cause.status)) return error;
  return { status: cause.status, message: cause.message, param: null, displayMessage: cause.displayMessage, overflow };
}
