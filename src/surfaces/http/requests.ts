import type { FastifyRequest } from 'fastify';
import type { JsonBounds } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { rejectPerRequestKey } from '#domain/callers/reject-per-request-key.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import { readCredentials, readJsonBody, rejectLargeBody, requireJson } from './read-request.ts';

/** Dependencies of most surfaces. */
export interface SurfaceDeps {
  readonly identify: Identify;
  readonly snapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly recordAudit: RecordAudit;
}

type IdentifyDeps = Pick<SurfaceDeps, 'identify'>;

/** Returns the caller of a request. Throws the errors of `identify`. */
export async function identifyCaller({ identify }: IdentifyDeps, { raw }: FastifyRequest): Promise<Caller> {
  return identify(readCredentials(raw), raw);
}

/** Returns a caller that is not an application. Throws `access_denied` for per-request keys, with the action in the message. */
export async function identifyUser(deps: IdentifyDeps, request: FastifyRequest, action: string): Promise<Caller> {
  const caller = await identifyCaller(deps, request);
  rejectPerRequestKey(caller, action);
  return caller;
}

interface ReadOptions extends Partial<JsonBounds> {
  readonly maxBytes: number;
}

/** Returns the parsed JSON body. Throws `unsupported_media_type`, `payload_too_large`, or `invalid_json`. */
export async function readJson(request: FastifyRequest, options: ReadOptions): Promise<unknown> {
  return (await readUnparsedJson(request, options))();
}

/**
 * Returns the caller, and a function that parses the JSON body. Checks, in this order: announced size, caller, media type, and
 * size.
 */
export async function readRequest<Who>(request: FastifyRequest, options: ReadOptions, identify: () => Promise<Who>) {
  rejectLargeBody(request.raw, options.maxBytes);
  const caller = await identify();
  return { caller, body: await readUnparsedJson(request, options) };
}

async function readUnparsedJson({ raw }: FastifyRequest, { maxBytes, ...bounds }: ReadOptions): Promise<() => unknown> {
  requireJson(raw);
  return readJsonBody(raw, maxBytes, bounds);
}
