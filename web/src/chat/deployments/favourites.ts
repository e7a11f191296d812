import { tryParseJson } from '#base/json/json.ts';

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
