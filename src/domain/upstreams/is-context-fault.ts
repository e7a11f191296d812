import { readContextOverflow } from '#contract/errors/error-conditions.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Returns whether a model rejected a request because it is too long or too large for it. */
export function isContextFault(thrown: unknown): boolean {
  if (!(thrown instanceof ParleyError) || (thrown.status !== 400 && thrown.status !== 413 && thrown.status !== 422)) return false;
  const { shownCode, message, overflow } = thrown;
  if (overflow !== undefined || /^request_too_large$/i.test(shownCode ?? '')) return true;
  return readContextOverflow(shownCode, message) !== undefined || /request (is )?too large/i.test(message);
}
