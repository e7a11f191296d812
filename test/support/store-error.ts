import { StoreError } from '#domain/store-error.ts';

/** Creates the error that a store throws while it is unavailable. */
export function createStoreError(message: string, options?: ErrorOptions): Error {
  return new StoreError(message, options);
}
