import { StoreFault } from '#domain/store-fault.ts';

/** Creates the error that a store throws while it is unavailable. */
export function createStoreError(message: string, options?: ErrorOptions): Error {
  return new StoreFault(message, options);
}
