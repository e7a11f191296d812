import { isStorableKey } from '#domain/deployments/storable-key.ts';
import { StoreFault } from '#domain/store-fault.ts';

/** Throws StoreFault where a thing cannot be told from every other one by these keys. */
export function requireStorable(...keys: readonly string[]): void {
  if (!keys.every(isStorableKey)) throw new StoreFault('the key is too long, or not a text that can be stored');
}
