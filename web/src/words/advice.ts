import type { Fault } from '../service/fault.ts';
import type { Words } from './english.ts';

/** What to do, by code, else by status. */
export function adviceFor({ status, code, retryAfterSeconds }: Fault, words: Words): string {
  if (code === 'consent_required') return words.adviceConsent;
  if (code === 'unknown_addon') return words.adviceTools;
  if (code === 'control_not_offered') return words.adviceControl;
  if (/^(token|request|cost)_limit_exceeded$/.test(code)) return words.adviceLimit;
  if (retryAfterSeconds !== undefined) return words.adviceWait(Math.ceil(retryAfterSeconds));
  if (status === 0) return words.adviceConnection;
  if (status === 401) return words.adviceSignIn;
  if (status === 403 || status === 404) return words.adviceAccess;
  if (status === 400 || status === 413 || status === 415) return words.adviceRequest;
  return words.adviceRetry;
}
