import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Tags } from '#contract/tags.ts';
import type { Target } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { EndedResponse, StoredResponse } from '#domain/responses/response-store.ts';

/** Data that another node needs to answer a request. */
interface QueuedRun {
  /** Body as received. */
  readonly value: unknown;
  readonly caller: Caller;
  readonly deployment: string;
  readonly tags: Tags | undefined;
  readonly isPrivate: boolean;
}

/** Returns the form in the store, which encrypts it. */
export function toQueued({ call }: Target, value: unknown): JsonObject {
  const { subject, project, roles, userKey, configuredKey } = call.caller;
  const keys = { ...(userKey && { madeKey: userKey }), ...(configuredKey && { configuredKey }) };
  const { tags, isPrivate } = call.record;
  const inherited = { ...(tags && { tags }), ...(isPrivate && { isPrivate }) };
  return { value, caller: { subject, project, roles, ...keys }, deployment: call.deployment, ...inherited };
}

export function fromQueued({ value, caller, deployment, tags, isPrivate }: JsonObject): QueuedRun {
  if (!isJsonObject(caller)) throw new ParleyError('internal_error', 'A queued run has no caller.');
  const {
    subject,
    project,
    roles,
    userKey: madeKey,
    configuredKey,
  } = { ...caller, userKey: caller.madeKey } as Omit<Caller, 'chain'> & JsonObject;
  const queuedCaller = {
    subject,
    project,
    roles,
    chain: null,
    ...(madeKey && { userKey: madeKey }),
    ...(configuredKey && { configuredKey }),
  };
  const inherited = { tags: tags as Tags | undefined, isPrivate: isPrivate === true };
  return { value, caller: queuedCaller, deployment: String(deployment), ...inherited };
}

/** Returns a response that failed because no node continues it, with its final event. */
export function failedResponse(
  stored: StoredResponse,
  error: { readonly code: string; readonly message: string },
  sequence_number: number,
): EndedResponse {
  const response = { ...stored.response, status: 'failed', error };
  const events = [{ type: 'response.failed', sequence_number, response }];
  return { response: { ...stored, status: 'failed', response }, events: { first: sequence_number, events } };
}
