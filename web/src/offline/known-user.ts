import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { readBrand } from '../page/brand.ts';
import type { Deployment } from '../service/deployments.ts';

/** Last known data of the signed-in user, for times without the service. */
export interface KnownUser {
  /** Name at the service, or ''. */
  readonly user: string;
  readonly info: JsonObject;
  readonly deployments: readonly Deployment[];
}

const storageKey = 'parley known';

/** Stores the data until the user signs out. Stores nothing if the operator forbids storage in browsers. */
export function saveKnownUser(knownUser: KnownUser): void {
  if (readBrand().offline === false) return;
  try {
    localStorage.setItem(storageKey, JSON.stringify(knownUser));
  } catch {
    // The data exceeds the storage quota. Without it, the page cannot open offline.
    localStorage.removeItem(storageKey);
  }
}

export function readKnownUser(): KnownUser | undefined {
  const stored = tryParseJson(localStorage.getItem(storageKey) ?? '');
  const isValid =
    isJsonObject(stored) && typeof stored.user === 'string' && isJsonObject(stored.info) && Array.isArray(stored.deployments);
  return isValid ? (stored as unknown as KnownUser) : undefined;
}

/** Other users of the same browser stay known. Without an argument, all are removed. */
export function deleteKnownUser(user?: string): void {
  if (user === undefined || readKnownUser()?.user === user) localStorage.removeItem(storageKey);
}
