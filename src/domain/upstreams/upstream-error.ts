import { truncate } from '#base/text/shorten.ts';
import { readContextOverflow } from '#contract/errors/error-conditions.ts';
import { type ErrorCode, ParleyError } from '#contract/errors/errors.ts';
import { isCallRefusal, toRefusalError } from './call-refusal.ts';
import { getWaitSeconds, rateLimitedSeconds } from './load-balancer.ts';
import { type Upstream, UpstreamError, type UpstreamErrorDetails } from './upstream.ts';

const unavailableStatuses = new Set([408, 425, 502, 503, 504, 529]);
const maxMessageChars = 2000;
/** Shorter values cannot be told from ordinary words. */
const minSecretChars = 6;
/** Statuses that say the caller is at fault: the words behind them are meant for it. */
const clientErrorStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 413, 422]);
/** What a fault says. */
const textFields = ['message', 'type', 'param', 'code', 'displayMessage'] as const;
/** What stands ahead of the secret in a field such as Authorization. */
const scheme = /^(?:bearer|basic|token|key|apikey|api-key) +/i;
// Pattern bound: a line that shortened has cut to longestMessage.
const stackFrame = /\s+at [\w.$<>]+ ?\(.*$/;
const machinePath =
  /(?<![\w.])(?:file:\/\/)?(?:[A-Za-z]:\\|\/(?:home|Users|root|usr|opt|var|srv|app|tmp|etc|mnt|proc|lib|private|workspace|build|src|data)\/)[^\s'",;)]+/g;

/** Whether another try may help; to be asked only before the first frame. */
export function isRetryable(error: UpstreamError): boolean {
  if (error.kind === 'unreachable' || error.kind === 'timeout') return true;
  return error.status === 429 || error.status === 502 || error.status === 503 || error.status === 504;
}

/** What the caller is told of an upstream's fault: its own mistakes as the upstream put them, our misconfiguration as ours. */
export function toCallerError(error: UpstreamError, deployment: string, upstream: Upstream): ParleyError {
  const safeError = withoutSecrets(error, upstream);
  if (isCallRefusal(error, upstream)) return toRefusalError(safeError);
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
      return error.isNoApi
        ? new ParleyError('upstream_failed', toMissingApiMessage(deployment), details)
        : toClientError('deployment_not_found');
    case 413:
      return toClientError('payload_too_large');
    case 401:
    case 403:
      return new ParleyError(
        'upstream_failed',
        `The upstream of ${deployment} refused the credentials that Parley is configured with.`,
        details,
      );
    case 429:
      return new ParleyError('upstream_rate_limited', `The upstream of ${deployment} is rate limited: ${text}`, {
        ...details,
        retryAfterSeconds: getWaitSeconds(error, rateLimitedSeconds),
      });
  }
  const isTemporary = error.kind === 'unreachable' || error.kind === 'timeout' || unavailableStatuses.has(error.status ?? 0);
  const message = `The upstream of ${deployment} failed: ${text}`;
  return isTemporary
    ? new ParleyError('upstream_unavailable', message, { ...details, retryAfterSeconds: getWaitSeconds(error, 1) })
    : new ParleyError('upstream_failed', message, details);
}

/**
 * The same fault as it may be shown: without what its upstream was sent to know us by, which it can say back (its key, configured
 * values and `others`), and of what is the upstream's own failure nothing but a sentence.
 */
export function withoutSecrets(error: UpstreamError, upstream: Upstream, otherSecrets: readonly string[] = []): UpstreamError {
  const clean = maskSecrets(error, [...listSecrets(upstream), ...otherSecrets]);
  if (isCallRefusal(error, upstream)) return clean;
  const message = toSentence(clean);
  return message === clean.message ? clean : rewriteError(clean, { message });
}

/** The same fault with `***` for each of `secrets`, wherever it stands. */
export function maskSecrets(error: UpstreamError, secrets: readonly string[]): UpstreamError {
  const clean = (text: string): string =>
    secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text);
  const cleanWord = (text: string | null): string | null => text && clean(text);
  const cleaned = {
    message: clean(error.message),
    type: cleanWord(error.type),
    param: cleanWord(error.param),
    code: cleanWord(error.code),
    displayMessage: cleanWord(error.displayMessage),
  };
  const isSame = textFields.every((word) => cleaned[word] === error[word]);
  // What it was caused by may say the same.
  return isSame ? error : rewriteError(error, { ...cleaned, cause: undefined });
}

function rewriteError(error: UpstreamError, { message, ...changed }: { message: string } & UpstreamErrorDetails): UpstreamError {
  const { kind, status, type, param, code, displayMessage, isBeforeRequest, retryAfterSeconds, isNoApi, cause } = error;
  return new UpstreamError(kind, message, {
    ...{ type, param, code, displayMessage, isBeforeRequest, isNoApi, cause },
    ...(status !== undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...changed,
  });
}

function toMissingApiMessage(deployment: string): string {
  return `The upstream of ${deployment} failed: its endpoint answered 404, with no error of an API; nothing of one is served at the address that is configured.`;
}

/** What an upstream said of its own failure is shown, since it is what helps, but no stack and no path of its machine. */
function toSentence({ message, status }: UpstreamError): string {
  if (clientErrorStatuses.has(status)) return truncate(message, maxMessageChars);
  const [line = ''] = message.trimStart().split(/\r?\n/, 1);
  return truncate(line, maxMessageChars).replace(stackFrame, '').replace(machinePath, '…');
}

function listSecrets({ key, headers, endpoint }: Upstream): string[] {
  const values = [key?.reveal() ?? '', ...listFieldSecrets(headers), ...(endpoint?.searchParams.values() ?? [])];
  const forms = new Set(values.flatMap((value) => [value, encodeURIComponent(value.toWellFormed())]));
  return [...forms].filter(({ length }) => length >= minSecretChars);
}

/** What of header fields must not be shown: their values, and what stands in them behind a scheme such as `Bearer`. */
export function listFieldSecrets(headers: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(headers).flatMap((value) => [value, value.replace(scheme, '')]))];
}

/** Returns whether a model rejected a request because it is too long or too large for it. */
export function isContextError(error: unknown): boolean {
  if (!(error instanceof ParleyError) || (error.status !== 400 && error.status !== 413 && error.status !== 422)) return false;
  const { publicCode: shownCode, message, overflow } = error;
  if (overflow !== undefined || /^request_too_large$/i.test(shownCode ?? '')) return true;
  return readContextOverflow(shownCode, message) !== undefined || /request (is )?too large/i.test(message);
}
