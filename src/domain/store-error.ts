import { ParleyError } from '#contract/errors/errors.ts';

/**
 * Error for data that a store currently cannot read or write. Clients whose call needs the store receive status 503. The
 * message contains `reason`, a clause without confidential details.
 */
export class StoreError extends ParleyError {
  override readonly name = 'StoreError';

  constructor(reason: string, { cause }: ErrorOptions = {}) {
    super('overloaded', `The store is currently unavailable: ${reason}. Try again.`, { cause, retryAfterSeconds: 1 });
  }
}

/** Handles a rejection: returns undefined for a `StoreError`, and throws any other error. */
export function ignoreStoreError(error: unknown): undefined {
  if (!(error instanceof StoreError)) throw error;
}

/** Returns a handler of rejections that throws `StoreError` with this reason. */
export function throwStoreError(reason: string): (cause: unknown) => never {
  return (cause) => {
    throw new StoreError(reason, { cause });
  };
}
