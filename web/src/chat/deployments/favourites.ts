import { tryParseJson } from '#base/json/json.ts';

const keptAs = 'parley favourites';
const recentAs = 'parley recent';
const mostRecent = 4;
const mostFavourites = 50;

/** Ids of deployments that the user wants to see first, in this browser. */
export function readFavourites(): readonly string[] {
  return readIds(keptAs);
}

/** Adds one, or takes it away. Gives what they are then. */
export function toggleFavourite(id: string): readonly string[] {
  const before = readFavourites();
  const next = before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-mostFavourites);
  localStorage.setItem(keptAs, JSON.stringify(next));
  return next;
}

/** Ids of those that were asked last, the latest first. */
export function readRecent(): readonly string[] {
  return readIds(recentAs);
}

export function noteUse(id: string): void {
  const next = [id, ...readRecent().filter((each) => each !== id)].slice(0, mostRecent);
  localStorage.setItem(recentAs, JSON.stringify(next));
}

function readIds(name: string): readonly string[] {
  const kept = tryParseJson(localStorage.getItem(name) ?? '');
  return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
}
