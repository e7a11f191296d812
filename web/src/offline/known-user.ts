import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { readBrand } from '../page/brand.ts';
import type { Deployment } from '../service/deployments.ts';

/** What the service last said of the user who is signed in with this browser, for times when it cannot be asked. */
export interface KnownUser {
  /** As the service names them; '' where it does not. */
  readonly user: string;
  readonly info: JsonObject;
  readonly deployments: readonly Deployment[];
}

const storageKey = 'parley known';

/** Keeps it until the user signs out; nothing where the operator wants browsers to keep nothing. */
export function saveKnownUser(knownUser: KnownUser): void {
  if (readBrand().offline === false) return;
  try {
    localStorage.setItem(storageKey, JSON.stringify(knownUser));
  } catch {
    // More than the browser keeps: without a network there is nothing to begin with.
    localStorage.removeItem(storageKey);
  }
}

export function readKnownUser(): KnownUser | undefined {
  const stored = tryParseJson(localStorage.getItem(storageKey) ?? '');
  const isValid =
    isJsonObject(stored) && typeof stored.user === 'string' && isJsonObject(stored.info) && Array.isArray(stored.deployments);
  return isValid ? (stored as unknown as KnownUser) : undefined;
}

/** Another user of the same browser stays known; nobody does where no user is named. */
export function deleteKnownUser(user?: string): void {
  if (user === undefined || readKnownUser()?.user === user) localStorage.removeItem(storageKey);
}
