import { hash } from 'node:crypto';
import { type ParleyError, toErrorBody } from '#contract/errors/errors.ts';
import { toRecordId } from '../callers/bound-key.ts';
import type { Caller } from '../callers/caller.ts';
import type { EndedResponse, ResponseRef, StoredResponse } from './response-store.ts';

const prefix = 'chatrun';

/**
 * Returns the stored ID of a chat run, whose client chose `id`. The IDs of two users never collide, and a bound key reaches only
 * the runs that it started.
 */
export function toChatRunRef(caller: Caller, id: string): ResponseRef {
  const { subject } = caller;
  return { id: toRecordId(prefix, caller, hash('sha256', JSON.stringify([subject, id]))), subject };
}

/** Returns whether a stored ID is that of a chat run. */
export function isChatRunId(id: string): boolean {
  return id.startsWith(`${prefix}_`);
}

/** Returns the event of an error in a chat run. */
export function toChatRunError(error: ParleyError, sequence_number: number): { readonly sequence_number: number } {
  return { sequence_number, ...toErrorBody(error) };
}

/** Returns a chat run that failed because its node is gone, with its final event, which has the number `nextEvent`. */
export function toFailedChatRun(stored: StoredResponse, error: ParleyError, nextEvent: number): EndedResponse {
  const response = { ...stored.response, status: 'failed' };
  return {
    response: { ...stored, status: 'failed', response },
    events: { first: nextEvent, events: [{ ...toChatRunError(error, nextEvent) }] },
  };
}
