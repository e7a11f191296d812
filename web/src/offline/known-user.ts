import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { Deployment } from '../service/deployments.ts';
import { readBrand } from '../shell/brand.ts';

/** Last known data of the signed-in user. The page uses it while the service is unreachable. */
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
    // The data exceeds the storage quota. The page then does not open offline.
    localStorage.removeItem(storageKey);
  }
}

export function readKnownUser(): KnownUser | undefined {
  const stored = tryParseJson(localStorage.getItem(storageKey) ?? '');
  const isValid =
    isJsonObject(stored) && typeof stored.user === 'string' && isJsonObject(stored.info) && Array.isArray(stored.deployments);
  return isValid ? (stored as unknown as KnownUser) : undefined;
}

/** Deletes the stored data of a user, or of any user without an argument. */
export function deleteKnownUser(user?: string): void {
  if (user === undefined || readKnownUser()?.user === user) localStorage.removeItem(storageKey);
}
