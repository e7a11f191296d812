import { tryParseJson } from '#base/json/json.ts';

const name = 'parley key';
const userName = 'parley key of';

/**
 * Returns the key of a link's `#key=…`, and always removes it from the address and the history. The key is not stored, because
 * another person may have made the link.
 */
export function takeLinkedKey(): string | undefined {
  const { hash, pathname, search } = location;
  const linked = new URLSearchParams(hash.slice(1)).get('key');
  if (linked === null) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  return linked === '' ? undefined : linked;
}

/** The key that this tab keeps. */
export function readKey(): string | undefined {
  return sessionStorage.getItem(name) ?? undefined;
}

/** Keeps the key until the tab is closed, and whose it is as soon as that is known. */
export function keepKey(key: string, user?: string): void {
  sessionStorage.setItem(name, key);
  if (user !== undefined) sessionStorage.setItem(userName, JSON.stringify([key, user]));
}

/** Whose the key is, if this tab was told. */
export function userOfKey(key: string): string | undefined {
  const kept = tryParseJson(sessionStorage.getItem(userName) ?? '');
  return Array.isArray(kept) && kept[0] === key ? String(kept[1]) : undefined;
}

export function forgetKey(): void {
  sessionStorage.removeItem(name);
  sessionStorage.removeItem(userName);
}
