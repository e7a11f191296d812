import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Tags } from '#contract/tags.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Target } from '#domain/calls/call.ts';
import type { EndedResponse, StoredResponse } from '#domain/responses/response-store.ts';

/** Request of a queued run, with all data that another node needs to answer it. */
interface QueuedRequest {
  /** Body as received. */
  readonly body: unknown;
  readonly caller: Caller;
  readonly deployment: string;
  readonly tags: Tags | undefined;
  readonly isPrivate: boolean;
}

/** Serializes the request of a run for the store, which encrypts it. The field for a user's key is `madeKey`. */
export function serializeQueuedRun({ call }: Target, body: unknown): JsonObject {
  const { subject, project, roles, userKey, configuredKey } = call.caller;
  const keys = { ...(userKey && { madeKey: userKey }), ...(configuredKey && { configuredKey }) };
  const { tags, isPrivate } = call.record;
  const inherited = { ...(tags && { tags }), ...(isPrivate && { isPrivate }) };
  return { value: body, caller: { subject, project, roles, ...keys }, deployment: call.deployment, ...inherited };
}

/** Parses the result of `serializeQueuedRun`. */
export function parseQueuedRun({ value, caller, deployment, tags, isPrivate }: JsonObject): QueuedRequest {
  if (!isJsonObject(caller)) throw new ParleyError('internal_error', 'A queued run has no caller.');
  const {
    subject,
    project,
    roles,
    configuredKey,
    madeKey: userKey,
  } = caller as JsonObject & Caller & { readonly madeKey?: Caller['userKey'] };
  const keys = { ...(userKey && { userKey }), ...(configuredKey && { configuredKey }) };
  const inherited = { tags: tags as Tags | undefined, isPrivate: isPrivate === true };
  return { body: value, caller: { subject, project, roles, chain: null, ...keys }, deployment: String(deployment), ...inherited };
}

/** Returns a stored response as failed, with its final event. */
export function toFailedResponse(
  stored: StoredResponse,
  error: { readonly code: string; readonly message: string },
  sequence_number: number,
): EndedResponse {
  const response = { ...stored.response, status: 'failed', error };
  const events = [{ type: 'response.failed', sequence_number, response }];
  return { response: { ...stored, status: 'failed', response }, events: { first: sequence_number, events } };
}
