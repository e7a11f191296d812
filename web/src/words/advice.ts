import type { Fault } from '../service/fault.ts';
import type { Words } from './english.ts';
import { untilInWords } from './until-in-words.ts';

/** In whose words, and when the fault came. */
interface Advising {
  readonly words: Words;
  readonly language: string;
  readonly atMs?: number;
}

/** What to do, by code, else by status. */
export function adviceFor(fault: Fault, advising: Advising): string {
  const { status, code } = fault;
  const { words } = advising;
  const when = whenOf(fault, advising);
  if (code === 'consent_required') return words.adviceConsent;
  if (code === 'unknown_addon') return words.adviceTools;
  if (code === 'control_not_offered') return words.adviceControl;
  if (/^(token|request|cost)_limit_exceeded$/.test(code)) return when === undefined ? words.adviceRetry : words.adviceLimit(when);
  if (when !== undefined) return words.adviceWait(when);
  if (status === 0) return words.adviceConnection;
  if (status === 401) return words.adviceSignIn;
  if (code === 'route_not_found' || code === 'method_not_allowed') return words.adviceOff;
  // Of what is not there another one is no help, unless it was to answer.
  if (/_not_found$/.test(code) && !/^(?:deployment|model)_/.test(code)) return '';
  if (status === 403 || status === 404) return words.adviceAccess;
  if (status === 400 || status === 413 || status === 415) return words.adviceRequest;
  return words.adviceRetry;
}

/** When it goes on, as people say it, such as “in 3 hours (18:05)”; undefined where nobody knows, or it is over by now. */
function whenOf({ retryAfterSeconds }: Fault, { language, atMs = Date.now() }: Advising): string | undefined {
  if (retryAfterSeconds === undefined) return undefined;
  const [untilMs, nowMs] = [atMs + retryAfterSeconds * 1000, Date.now()];
  if (untilMs <= nowMs) return undefined;
  const relative = untilInWords(untilMs, nowMs, language);
  const isFar = untilMs - nowMs > 20 * 3_600_000;
  const form: Intl.DateTimeFormatOptions = isFar
    ? { weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' }
    : { timeStyle: 'short' };
  return untilMs - nowMs < 60_000 ? relative : `${relative} (${new Date(untilMs).toLocaleString(language, form)})`;
}
