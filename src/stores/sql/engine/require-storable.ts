import { isStorableKey } from '#domain/deployments/storable-key.ts';
import { StoreFault } from '#domain/store-fault.ts';

/** Throws StoreFault if one of these keys is too long or cannot be stored. */
export function requireStorable(...keys: readonly string[]): void {
  if (!keys.every(isStorableKey)) throw new StoreFault('the key is too long, or not a text that can be stored');
}
