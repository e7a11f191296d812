import { tryParseJson } from '#base/json/json.ts';
import type { Deployment } from '../../service/deployments.ts';

const lastDeployment = 'parley deployment';
const sample = 'sample';
const favouritesKey = 'parley favourites';
const recentKey = 'parley recent';
const maxRecent = 4;
const maxFavourites = 50;

/** Returns the IDs of the favorite deployments in this browser. */
export function readFavourites(): readonly string[] {
  return readIds(favouritesKey);
}

/** Adds or removes a favorite. Returns the new list. */
export function toggleFavourite(id: string): readonly string[] {
  const before = readFavourites();
  const next = before.includes(id) ? before.filter((storedId) => storedId !== id) : [...before, id].slice(-maxFavourites);
  localStorage.setItem(favouritesKey, JSON.stringify(next));
  return next;
}

/** Returns the IDs of recently used deployments, the latest first. */
export function readRecent(): readonly string[] {
  return readIds(recentKey);
}

export function recordUse(id: string): void {
  const next = [id, ...readRecent().filter((storedId) => storedId !== id)].slice(0, maxRecent);
  localStorage.setItem(recentKey, JSON.stringify(next));
}

function readIds(name: string): readonly string[] {
  const stored = tryParseJson(localStorage.getItem(name) ?? '');
  return Array.isArray(stored) ? stored.filter((storedId) => typeof storedId === 'string') : [];
}

/** Stores the deployment that the user chose last. */
export function saveLastDeployment(id: string): void {
  localStorage.setItem(lastDeployment, id);
}

/**
 * Returns the deployment for a first question, in this order: the last used one, the sample, or the first one of the service
 * that answers immediately. Never returns a deployment that another user shared. Only the user can choose it.
 */
export function pickDefaultDeployment(deployments: readonly Deployment[]): Deployment | undefined {
  const open = deployments.filter(({ owner }) => owner !== 'other').sort((left, right) => left.position - right.position);
  const lastUsed = localStorage.getItem(lastDeployment);
  return (
    open.find(({ id }) => id === lastUsed) ??
    open.find(({ id }) => id === sample) ??
    open.find(({ requiresConsent }) => !requiresConsent) ??
    open[0]
  );
}
