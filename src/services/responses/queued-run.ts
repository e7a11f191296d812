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
}

/** Returns the form in the store, which encrypts it. */
export function toQueued({ call }: Target, value: unknown): JsonObject {
  const { subject, project, roles, userKey, configuredKey } = call.caller;
  const keys = { ...(userKey && { madeKey: userKey }), ...(configuredKey && { configuredKey }) };
  const { tags } = call.record;
  return { value, caller: { subject, project, roles, ...keys }, deployment: call.deployment, ...(tags && { tags }) };
}

export function fromQueued({ value, caller, deployment, tags }: JsonObject): QueuedRun {
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
  return { value, caller: queuedCaller, deployment: String(deployment), tags: tags as Tags | undefined };
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
