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

const keptAs = 'parley known';

/** Keeps it until the user signs out; nothing where the operator wants browsers to keep nothing. */
export function noteKnownUser(known: KnownUser): void {
  if (readBrand().offline === false) return;
  try {
    localStorage.setItem(keptAs, JSON.stringify(known));
  } catch {
    // More than the browser keeps: without a network there is nothing to begin with.
    localStorage.removeItem(keptAs);
  }
}

export function readKnownUser(): KnownUser | undefined {
  const kept = tryParseJson(localStorage.getItem(keptAs) ?? '');
  const isWhole =
    isJsonObject(kept) && typeof kept.user === 'string' && isJsonObject(kept.info) && Array.isArray(kept.deployments);
  return isWhole ? (kept as unknown as KnownUser) : undefined;
}

/** Another user of the same browser stays known; nobody does where no user is named. */
export function forgetKnownUser(user?: string): void {
  if (user === undefined || readKnownUser()?.user === user) localStorage.removeItem(keptAs);
}
