import { ParleyError } from '#contract/errors/errors.ts';

/** Condition on the stored resource for a write (RFC 9110, 13.1). Undefined is always met. */
export type WriteCondition = { readonly etag: string } | 'absent' | 'present' | undefined;

/** Returns whether the stored resource meets a condition. `etag` is undefined if the resource does not exist. */
export function isMet(condition: WriteCondition, etag: string | undefined): boolean {
  if (condition === undefined) return true;
  if (condition === 'absent') return etag === undefined;
  return condition === 'present' ? etag !== undefined : condition.etag === etag;
}

export function createPreconditionError(): ParleyError {
  return new ParleyError('precondition_failed', 'The stored resource does not match If-Match or If-None-Match. Read it again.');
}
