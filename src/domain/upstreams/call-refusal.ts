import { protocols } from '#contract/configuration/protocols.ts';
import { type ErrorCode, errorKinds, ParleyError } from '#contract/errors/errors.ts';
import { rateLimitedSeconds } from './load-balancer.ts';
import type { Upstream, UpstreamError } from './upstream.ts';

const notImplemented = 501;
/** What Parley refuses a call for that an application makes: its user has no right, has not consented, or has used up a limit. */
const parleyRefusalCodes: ReadonlySet<string | null> = new Set<ErrorCode>([
  'access_denied',
  'consent_required',
  'token_limit_exceeded',
  'request_limit_exceeded',
  'cost_limit_exceeded',
]);
/** The words for what a program leaves unsaid; `invalid_request` for all others. */
const codes: ReadonlyMap<number, ErrorCode> = new Map([
  [403, 'access_denied'],
  [404, 'deployment_not_found'],
  [413, 'payload_too_large'],
  [415, 'unsupported_media_type'],
  [429, 'upstream_rate_limited'],
  [500, 'upstream_failed'],
  [notImplemented, 'upstream_failed'],
]);
const unauthorized = 401;

/**
 * Whether a fault is a refusal that goes to the caller of the call alone, and tells nothing of the upstream's health: what an
 * application refuses, and what Parley itself refused a program further down the chain.
 */
export function isCallRefusal({ kind, status, code }: UpstreamError, { protocol }: Upstream): boolean {
  const { speaksForItself, callsDeployments } = protocols[protocol];
  if (kind !== 'refused') return false;
  if (speaksForItself) return !isStatus(status) || status === notImplemented || isClientError(status);
  return callsDeployments && parleyRefusalCodes.has(code) && status !== undefined && isClientError(status);
}

/** The same as it was said; what was left unsaid is filled in. */
export function toRefusalError(error: UpstreamError): ParleyError {
  const { retryAfterSeconds } = error;
  const status = isStatus(error.status) ? error.status : errorKinds.upstream_failed.status;
  const code = codes.get(status) ?? 'invalid_request';
  const waitSeconds = retryAfterSeconds ?? (status === errorKinds.upstream_rate_limited.status ? rateLimitedSeconds : undefined);
  return new ParleyError(code, error.message, {
    cause: error,
    status,
    upstreamType: error.type ?? (status === unauthorized ? errorKinds.invalid_api_key.type : null),
    upstreamCode: error.code ?? code,
    param: error.param,
    displayMessage: error.displayMessage,
    ...(waitSeconds !== undefined && { retryAfterSeconds: waitSeconds }),
  });
}

/** Inside a stream, programs put any number there. */
function isStatus(status: number | undefined): status is number {
  return status !== undefined && status >= 100 && status < 600;
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}
