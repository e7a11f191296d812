import { filterStrings, tryParseJson } from '#base/json/json.ts';
import type { Deployment } from '../../service/deployments.ts';

const lastDeploymentKey = 'parley deployment';
const sampleId = 'sample';
const favoritesKey = 'parley favourites';
const recentKey = 'parley recent';
const maxRecent = 4;
const maxFavorites = 50;

/** Returns the IDs of the favorite deployments in this browser. */
export function readFavorites(): readonly string[] {
  return readIds(favoritesKey);
}

/** Adds or removes a favorite. Returns the new list. */
export function toggleFavorite(id: string): readonly string[] {
  const before = readFavorites();
  const next = before.includes(id) ? before.filter((storedId) => storedId !== id) : [...before, id].slice(-maxFavorites);
  localStorage.setItem(favoritesKey, JSON.stringify(next));
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
  return filterStrings(tryParseJson(localStorage.getItem(name) ?? ''));
}

/** Stores the deployment that the user chose last. */
export function saveLastDeployment(id: string): void {
  localStorage.setItem(lastDeploymentKey, id);
}

/**
 * Returns the deployment for the first question of a chat, in this order: the one that the user chose last, the sample, the first
 * one that needs no consent, or the first one. Never returns a deployment that another user shared. Only the user can choose it.
 */
export function pickDefaultDeployment(deployments: readonly Deployment[]): Deployment | undefined {
  const candidates = deployments.filter(({ owner }) => owner !== 'other').sort((left, right) => left.position - right.position);
  const lastUsed = localStorage.getItem(lastDeploymentKey);
  return (
    candidates.find(({ id }) => id === lastUsed) ??
    candidates.find(({ id }) => id === sampleId) ??
    candidates.find(({ requiresConsent }) => !requiresConsent) ??
    candidates[0]
  );
}
