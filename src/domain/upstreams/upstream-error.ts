import { truncate } from '#base/text/shorten.ts';
import { readContextOverflow } from '#contract/errors/error-conditions.ts';
import { type ErrorCode, ParleyError } from '#contract/errors/errors.ts';
import { rateLimitedSeconds, waitSecondsOf } from './load-balancer.ts';
import { isOwnRefusal, toOwnError } from './own-refusal.ts';
import { type Upstream, UpstreamFault, type UpstreamFaultDetails } from './upstream.ts';

const unavailable = new Set([408, 425, 502, 503, 504, 529]);
const longestMessage = 2000;
/** Shorter values cannot be told from ordinary words. */
const shortestSecret = 6;
/** Statuses that say the caller is at fault: the words behind them are meant for it. */
const ofCaller: ReadonlySet<number | undefined> = new Set([400, 404, 413, 422]);
/** What a fault says. */
const words = ['message', 'type', 'param', 'code', 'displayMessage'] as const;
/** What stands ahead of the secret in a field such as Authorization. */
const scheme = /^(?:bearer|basic|token|key|apikey|api-key) +/i;
// Pattern bound: a line that shortened has cut to longestMessage.
const stackFrame = /\s+at [\w.$<>]+ ?\(.*$/;
const pathOfMachine =
  /(?<![\w.])(?:file:\/\/)?(?:[A-Za-z]:\\|\/(?:home|Users|root|usr|opt|var|srv|app|tmp|etc|mnt|proc|lib|private|workspace|build|src|data)\/)[^\s'",;)]+/g;

/** Whether another try may help; to be asked only before the first frame. */
export function isRetryable(fault: UpstreamFault): boolean {
  if (fault.kind === 'unreachable' || fault.kind === 'timeout') return true;
  return fault.status === 429 || fault.status === 502 || fault.status === 503 || fault.status === 504;
}

/** What the caller is told of an upstream's fault: its own mistakes as the upstream put them, our misconfiguration as ours. */
export function toCallerError(fault: UpstreamFault, deployment: string, upstream: Upstream): ParleyError {
  const shown = withoutSecrets(fault, upstream);
  if (isOwnRefusal(fault, upstream)) return toOwnError(shown);
  const { message: said, displayMessage } = shown;
  const details = { cause: fault, displayMessage };
  const ofTheirs = (code: ErrorCode): ParleyError =>
    new ParleyError(code, said, { ...details, param: fault.param, upstreamCode: fault.code ?? code });
  const overflow = ofCaller.has(fault.status) ? readContextOverflow(fault.code, said) : undefined;
  if (overflow !== undefined)
    return new ParleyError('context_length_exceeded', said, { ...details, param: fault.param, overflow });
  switch (fault.status) {
    case 400:
    case 422:
      return ofTheirs('invalid_request');
    case 404:
      return fault.isNoApi
        ? new ParleyError('upstream_failed', nothingAt(deployment), details)
        : ofTheirs('deployment_not_found');
    case 413:
      return ofTheirs('payload_too_large');
    case 401:
    case 403:
      return new ParleyError(
        'upstream_failed',
        `The upstream of ${deployment} refused the credentials that Parley is configured with.`,
        details,
      );
    case 429:
      return new ParleyError('upstream_rate_limited', `The upstream of ${deployment} is rate limited: ${said}`, {
        ...details,
        retryAfterSeconds: waitSecondsOf(fault, rateLimitedSeconds),
      });
  }
  const isPassing = fault.kind === 'unreachable' || fault.kind === 'timeout' || unavailable.has(fault.status ?? 0);
  const message = `The upstream of ${deployment} failed: ${said}`;
  return isPassing
    ? new ParleyError('upstream_unavailable', message, { ...details, retryAfterSeconds: waitSecondsOf(fault, 1) })
    : new ParleyError('upstream_failed', message, details);
}

/**
 * The same fault as it may be shown: without what its upstream was sent to know us by, which it can say back (its key, configured
 * values and `others`), and of what is the upstream's own failure nothing but a sentence.
 */
export function withoutSecrets(fault: UpstreamFault, upstream: Upstream, others: readonly string[] = []): UpstreamFault {
  const clean = masked(fault, [...secretsOf(upstream), ...others]);
  if (isOwnRefusal(fault, upstream)) return clean;
  const message = toSentence(clean);
  return message === clean.message ? clean : rewritten(clean, { message });
}

/** The same fault with `***` for each of `secrets`, wherever it stands. */
export function masked(fault: UpstreamFault, secrets: readonly string[]): UpstreamFault {
  const clean = (text: string): string =>
    secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text);
  const cleanWord = (text: string | null): string | null => text && clean(text);
  const said = {
    message: clean(fault.message),
    type: cleanWord(fault.type),
    param: cleanWord(fault.param),
    code: cleanWord(fault.code),
    displayMessage: cleanWord(fault.displayMessage),
  };
  const isSame = words.every((word) => said[word] === fault[word]);
  // What it was caused by may say the same.
  return isSame ? fault : rewritten(fault, { ...said, cause: undefined });
}

function rewritten(fault: UpstreamFault, { message, ...changed }: { message: string } & UpstreamFaultDetails): UpstreamFault {
  const { kind, status, type, param, code, displayMessage, isBeforeRequest, retryAfterSeconds, isNoApi, cause } = fault;
  return new UpstreamFault(kind, message, {
    ...{ type, param, code, displayMessage, isBeforeRequest, isNoApi, cause },
    ...(status !== undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...changed,
  });
}

function nothingAt(deployment: string): string {
  return `The upstream of ${deployment} failed: its endpoint answered 404, with no error of an API; nothing of one is served at the address that is configured.`;
}

/** What an upstream said of its own failure is shown, since it is what helps, but no stack and no path of its machine. */
function toSentence({ message, status }: UpstreamFault): string {
  if (ofCaller.has(status)) return truncate(message, longestMessage);
  const [line = ''] = message.trimStart().split(/\r?\n/, 1);
  return truncate(line, longestMessage).replace(stackFrame, '').replace(pathOfMachine, '…');
}

function secretsOf({ key, headers, endpoint }: Upstream): string[] {
  const values = [key?.reveal() ?? '', ...secretsOfFields(headers), ...(endpoint?.searchParams.values() ?? [])];
  const forms = new Set(values.flatMap((value) => [value, encodeURIComponent(value.toWellFormed())]));
  return [...forms].filter(({ length }) => length >= shortestSecret);
}

/** What of header fields must not be shown: their values, and what stands in them behind a scheme such as `Bearer`. */
export function secretsOfFields(headers: Readonly<Record<string, string>>): string[] {
  return [...new Set(Object.values(headers).flatMap((value) => [value, value.replace(scheme, '')]))];
}

/** Returns whether a model rejected a request because it is too long or too large for it. */
export function isContextFault(thrown: unknown): boolean {
  if (!(thrown instanceof ParleyError) || (thrown.status !== 400 && thrown.status !== 413 && thrown.status !== 422)) return false;
  const { shownCode, message, overflow } = thrown;
  if (overflow !== undefined || /^request_too_large$/i.test(shownCode ?? '')) return true;
  return readContextOverflow(shownCode, message) !== undefined || /request (is )?too large/i.test(message);
}
