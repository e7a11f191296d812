const name = 'parley key';

/** The key out of a link's `#key=…`, which then leaves the address. */
export function takeLinkedKey(): string | undefined {
  const { hash, pathname, search } = location;
  const linked = new URLSearchParams(hash.slice(1)).get('key');
  if (linked === null) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  keepKey(linked);
  return linked;
}

/** The key out of the link, else the one this tab keeps. */
export function takeKey(): string | undefined {
  return takeLinkedKey() ?? sessionStorage.getItem(name) ?? undefined;
}

/** Keeps the key until the tab is closed. */
export function keepKey(key: string): void {
  sessionStorage.setItem(name, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(name);
}
