import { ParleyError } from '#contract/errors/errors.ts';

/** What must hold of the stored thing for a write to happen (RFC 9110, 13.1); undefined: it happens always. */
export type WriteCondition = { readonly etag: string } | 'absent' | 'present' | undefined;

/** Whether a condition holds of what is there; `etag` is undefined if nothing is. */
export function isMet(condition: WriteCondition, etag: string | undefined): boolean {
  if (condition === undefined) return true;
  if (condition === 'absent') return etag === undefined;
  return condition === 'present' ? etag !== undefined : condition.etag === etag;
}

export function preconditionFailed(): ParleyError {
  return new ParleyError('precondition_failed', 'What is stored is not what If-Match or If-None-Match say; get it anew.');
}
