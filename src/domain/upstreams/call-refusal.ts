import { protocols } from '#contract/configuration/protocols.ts';
import { type ErrorCode, errorKinds, ParleyError } from '#contract/errors/errors.ts';
import { rateLimitedSeconds } from './load-balancer.ts';
import type { Upstream, UpstreamError } from './upstream.ts';

const notImplemented = 501;
/** Codes of errors with which Parley rejects an application's call: the user lacks rights or consent, or a limit is exhausted. */
const parleyRejectionCodes: ReadonlySet<string | null> = new Set<ErrorCode>([
  'access_denied',
  'consent_required',
  'token_limit_exceeded',
  'request_limit_exceeded',
  'cost_limit_exceeded',
  'parallel_limit_exceeded',
]);
/** Codes for errors without a code, by status. `invalid_request` for all other statuses. */
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
 * Returns whether an error concerns only the client of this call, and does not affect the health of the upstream. That
 * includes rejections by an application, and rejections by Parley of an application further down the call chain.
 */
export function isCallRejection({ kind, status, code }: UpstreamError, { protocol }: Upstream): boolean {
  const { passesRejections, callsDeployments } = protocols[protocol];
  if (kind !== 'refused') return false;
  if (passesRejections) return !isStatus(status) || status === notImplemented || isClientError(status);
  return callsDeployments && parleyRejectionCodes.has(code) && status !== undefined && isClientError(status);
}

/** Returns the error for the client. It is unchanged, except for defaults for missing fields. */
export function toRejectionError(error: UpstreamError): ParleyError {
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

/** Returns whether the number is an HTTP status. Inside a stream, applications may report any number. */
function isStatus(status: number | undefined): status is number {
  return status !== undefined && status >= 100 && status < 600;
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}
