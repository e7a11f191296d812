import { truncate } from '#base/text/truncate.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { readContextOverflow } from '#contract/errors/error-conditions.ts';
import { type ErrorCode, errorKinds, ParleyError } from '#contract/errors/errors.ts';
import { type Upstream, UpstreamError, type UpstreamErrorDetails } from './upstream.ts';
import { defaultPauseSeconds } from './upstream-health.ts';

const unavailableStatuses = new Set([408, 425, 502, 503, 504, 529]);
const maxMessageChars = 2000;
/** Minimum length of a secret. Shorter values could occur in ordinary text. */
const minSecretChars = 6;
/** Statuses of client errors. Their messages are for the client. */
const clientErrorStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 413, 422]);
/** Fields of an error that contain text or null. */
const nullableTextFields = ['type', 'param', 'code', 'displayMessage'] as const;
/** Scheme before the secret in a field such as `Authorization`. */
const schemePattern = /^(?:bearer|basic|token|key|apikey|api-key) +/i;
// Pattern bound: a line that `truncate` limits to `maxMessageChars`.
const stackFrame = /\s+at [\w.$<>]+ ?\(.*$/;
const machinePath =
  /(?<![\w.])(?:file:\/\/)?(?:[A-Za-z]:\\|\/(?:home|Users|root|usr|opt|var|srv|app|tmp|etc|mnt|proc|lib|private|workspace|build|src|data)\/)[^\s'",;)]+/g;

/** Returns the error for a part of a request that a dialect does not support. `param` is the path of the part. */
export function createUnsupportedError(feature: string, param: string): UpstreamError {
  return new UpstreamError('refused', `The upstream of this model does not accept ${feature}.`, { status: 400, param });
}

/** Returns whether another attempt may succeed. Valid only before the first frame. */
export function isRetryable(error: UpstreamError): boolean {
  if (error.kind === 'unreachable' || error.kind === 'timeout') return true;
  return error.status === 429 || error.status === 502 || error.status === 503 || error.status === 504;
}

/**
 * Returns the error for the client. Keeps the upstream's message for client errors, and reports misconfiguration as an error of
 * Parley.
 */
export function toCallerError(error: UpstreamError, deployment: string, upstream: Upstream): ParleyError {
  const safeError = withoutSecrets(error, upstream);
  if (isCallRejection(error, upstream)) return toRejectionError(safeError);
  const { message: text, displayMessage } = safeError;
  const details = { cause: error, displayMessage };
  const toClientError = (code: ErrorCode): ParleyError =>
    new ParleyError(code, text, { ...details, param: error.param, upstreamCode: error.code ?? code });
  const overflow = clientErrorStatuses.has(error.status) ? readContextOverflow(error.code, text) : undefined;
  if (overflow !== undefined)
    return new ParleyError('context_length_exceeded', text, { ...details, param: error.param, overflow });
  switch (error.status) {
    case 400:
    case 422:
      return toClientError('invalid_request');
    case 404:
      return error.isNotFromModelApi
        ? new ParleyError('upstream_failed', toMissingApiMessage(deployment), details)
        : toClientError('deployment_not_found');
    case 413:
      return toClientError('payload_too_large');
    case 401:
    case 403:
      return new ParleyError(
        'upstream_failed',
        `The upstream of ${deployment} rejected the credentials that are configured in Parley.`,
        details,
      );
    case 429:
      return new ParleyError('upstream_rate_limited', `The upstream of ${deployment} is rate limited: ${text}`, {
        ...details,
        retryAfterSeconds: error.retryAfterSeconds ?? defaultPauseSeconds,
      });
  }
  const isTemporary = error.kind === 'unreachable' || error.kind === 'timeout' || unavailableStatuses.has(error.status ?? 0);
  const message = `The upstream of ${deployment} failed: ${text}`;
  return isTemporary
    ? new ParleyError('upstream_unavailable', message, { ...details, retryAfterSeconds: error.retryAfterSeconds ?? 1 })
    : new ParleyError('upstream_failed', message, details);
}

/**
 * Returns the error without secrets. Masks credentials and configured values that the upstream may repeat, and `otherSecrets`.
 * Reduces a message about the upstream's own failure to its first line.
 */
export function withoutSecrets(error: UpstreamError, upstream: Upstream, otherSecrets: readonly string[] = []): UpstreamError {
  const maskedError = maskSecrets(error, [...listSecrets(upstream), ...otherSecrets]);
  if (isCallRejection(error, upstream)) return maskedError;
  const message = shortenMessage(maskedError);
  return message === maskedError.message ? maskedError : rewriteError(maskedError, { message });
}

/** Returns the error with all occurrences of `secrets` replaced by `***`. */
export function maskSecrets(error: UpstreamError, secrets: readonly string[]): UpstreamError {
  const mask = (text: string): string =>
    secrets.reduce((result, secret) => (secret === '' ? result : result.replaceAll(secret, '***')), text);
  const masked = Object.fromEntries(nullableTextFields.map((field) => [field, error[field] && mask(error[field])]));
  const message = mask(error.message);
  const isSame = message === error.message && nullableTextFields.every((field) => masked[field] === error[field]);
  // The cause may contain the same secrets.
  return isSame ? error : rewriteError(error, { message, ...masked, cause: undefined });
}

function rewriteError(error: UpstreamError, { message, ...changed }: { message: string } & UpstreamErrorDetails): UpstreamError {
  return new UpstreamError(error.kind, message, { ...error, cause: error.cause, ...changed });
}

function toMissingApiMessage(deployment: string): string {
  return `The upstream of ${deployment} failed: its endpoint answered 404 without an API error. Check the configured address, which serves no API.`;
}

/**
 * Shortens a message about the upstream's own failure to its first line, without stack traces and local paths. Keeps client
 * errors complete.
 */
function shortenMessage({ message, status }: UpstreamError): string {
  if (clientErrorStatuses.has(status)) return truncate(message, maxMessageChars);
  const [line = ''] = message.trimStart().split(/\r?\n/, 1);
  return truncate(line, maxMessageChars).replace(stackFrame, '').replace(machinePath, '…');
}

function listSecrets({ key, headers, endpoint }: Upstream): string[] {
  const values = [key?.reveal() ?? '', ...listFieldSecrets(headers), ...(endpoint?.searchParams.values() ?? [])];
  const forms = new Set(values.flatMap((value) => [value, encodeURIComponent(value.toWellFormed())]));
  return [...forms].filter(({ length }) => length >= minSecretChars);
}

/** Returns the secret parts of header fields: their values, and the values without a scheme such as `Bearer`. */
export function listFieldSecrets(headers: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(headers).flatMap((value) => [value, value.replace(schemePattern, '')]))];
}

/** Returns whether a model rejected a request because it is too long or too large. */
export function isContextError(error: unknown): boolean {
  if (!(error instanceof ParleyError) || (error.status !== 400 && error.status !== 413 && error.status !== 422)) return false;
  const { publicCode, message, overflow } = error;
  if (overflow !== undefined || /^request_too_large$/i.test(publicCode ?? '')) return true;
  return readContextOverflow(publicCode, message) !== undefined || /request (is )?too large/i.test(message);
}

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
const codesByStatus: ReadonlyMap<number, ErrorCode> = new Map([
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
 * includes an application's rejections, and Parley's rejections of calls further down the call chain.
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
  const code = codesByStatus.get(status) ?? 'invalid_request';
  const waitSeconds = retryAfterSeconds ?? (status === errorKinds.upstream_rate_limited.status ? defaultPauseSeconds : undefined);
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
