import type { Strings } from '../locales/en/page.ts';
import type { ErrorDetails } from '../service/service-error.ts';
import { formatTimeUntil } from './formats.ts';

/** Texts and locale, the time of the error, and whether it is the error of an answer. */
interface SuggestionContext {
  readonly strings: Strings;
  readonly locale: string;
  readonly atMs?: number;
  readonly isAnswer?: boolean;
}

/** Suggests an action by code, or by status if the code has no suggestion. */
export function suggestAction(error: ErrorDetails, context: SuggestionContext): string {
  const { status, code } = error;
  const { strings } = context;
  const time = formatRetryTime(error, context);
  if (code === 'consent_required') return strings.suggestConsent;
  if (code === 'unknown_addon') return strings.suggestTools;
  if (code === 'control_not_offered') return strings.suggestControl;
  // A cost limit counts all deployments together, so another deployment does not help.
  if (time !== undefined && /^(token|request)_limit_exceeded$/.test(code)) return strings.suggestLimit(time);
  if (time !== undefined) return strings.suggestWait(time);
  if (code === 'route_not_found' || code === 'method_not_allowed') return strings.suggestOff;
  if (code === 'context_length_exceeded') return strings.suggestTooLong;
  // Suggestions for status 404 are about access to a deployment. They do not fit other missing objects.
  if (/_not_found$/.test(code) && !/^(?:deployment|model)_/.test(code)) return '';
  return suggestByStatus(status, context);
}

function suggestByStatus(status: number, context: SuggestionContext): string {
  const { strings, isAnswer = false } = context;
  if (status === 0) return strings.suggestConnection;
  if (status === 401) return strings.suggestSignIn;
  if (status === 403 || status === 404) return isAnswer ? strings.suggestAccess : strings.suggestAskAccess;
  if (status === 412) return strings.suggestReload;
  if (status === 413) return strings.suggestTooLarge;
  if (status === 400 || status === 415) return isAnswer ? strings.suggestRequest : strings.suggestCheck;
  return suggestRetry(context);
}

function suggestRetry({ strings, isAnswer = false }: SuggestionContext): string {
  return isAnswer ? strings.suggestRetry : strings.suggestRetryLater;
}

/** Formats the retry time, such as “in 3 hours (18:05)”. Returns undefined if it is unknown or in the past. */
function formatRetryTime(
  { retryAfterSeconds }: ErrorDetails,
  { locale, atMs = Date.now() }: SuggestionContext,
): string | undefined {
  if (retryAfterSeconds === undefined) return undefined;
  const [untilMs, nowMs] = [atMs + retryAfterSeconds * 1000, Date.now()];
  if (untilMs <= nowMs) return undefined;
  const relative = formatTimeUntil(untilMs, nowMs, locale);
  const isFar = untilMs - nowMs > 20 * 3_600_000;
  const form: Intl.DateTimeFormatOptions = isFar
    ? { weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' }
    : { timeStyle: 'short' };
  return untilMs - nowMs < 60_000 ? relative : `${relative} (${new Date(untilMs).toLocaleString(locale, form)})`;
}
