import type { FastifyRequest } from 'fastify';
import type { Caller } from '#domain/callers/caller.ts';
import { refuseLargeBody, requireJson } from '../../http/read-request.ts';
import { readStrictBody } from './read-strict-body.ts';
import { callerOf, type ResourceDeps } from './resource-deps.ts';

/** What an operation on stored things is asked by whom; `body` gives it checked, and throws for what is wrong with it. */
export interface AskedOperation<Body> {
  readonly caller: Caller;
  readonly body: () => Body;
}

/** `security.maxBodyBytes` may be less. */
const maxOperationBytes = 1024 ** 2;

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
