import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { duplicateKey } from '#base/json/duplicate-key.ts';
import { formatPath } from '#contract/configuration/fault.ts';
import { requestFault } from '#contract/errors/request-error.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { parseBody, readBody, refuseLargeBody, requireJson } from '#surfaces/http/read-request.ts';
import { callerOf, type ResourceDeps } from './resource-deps.ts';

/** `security.maxBodyBytes` may be less. */
const maxOperationBytes = 1024 ** 2;

/** A JSON body as it came, and its value. */
interface StrictBody {
  readonly bytes: Buffer;
  readonly value: unknown;
}

const longestPath = 200;

/** The whole body, parsed when it is asked for. Throws `payload_too_large`; what it gives throws `invalid_json`, and `invalid_request` for a key that stands twice. */
export async function readStrictBody(request: IncomingMessage, maxBytes: number): Promise<() => StrictBody> {
  const bytes = await readBody(request, maxBytes);
  return () => {
    // A copy: what is parsed is freed, and these bytes are stored.
    const value = parseBody(Buffer.from(bytes), { allowsProto: true });
    const twice = duplicateKey(bytes.toString('utf8'));
    if (twice !== undefined) throw requestFault(formatPath(twice).slice(0, longestPath), 'stands twice; send it once');
    return { bytes, value };
  };
}

/** What an operation on stored things is asked by whom; `body` gives it checked, and throws for what is wrong with it. */
export interface AskedOperation<Body> {
  readonly caller: Caller;
  readonly body: () => Body;
}

/** Reads an operation. Throws `payload_too_large`, 401, `unsupported_media_type`. */
export async function readOperation<Body>(
  deps: Pick<ResourceDeps, 'identify' | 'snapshot'>,
  request: FastifyRequest,
  parse: (body: unknown) => Body,
): Promise<AskedOperation<Body>> {
  const maxBytes = Math.min(maxOperationBytes, deps.snapshot().configuration.security.maxBodyBytes);
  refuseLargeBody(request.raw, maxBytes);
  const caller = await callerOf(deps, request);
  requireJson(request.raw);
  const body = await readStrictBody(request.raw, maxBytes);
  return { caller, body: () => parse(body().value) };
}
