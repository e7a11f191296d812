/** Returns the names of the keys on this system. `Mod` is ⌘ on a Mac, and Ctrl elsewhere. */
export function formatKeys(keys: string): readonly string[] {
  const isMac = /Mac|iP(hone|ad|od)/.test(navigator.userAgent);
  const names: Readonly<Record<string, string>> = isMac ? { Mod: '⌘', Shift: '⇧' } : { Mod: 'Ctrl' };
  return keys.split(' ').map((key) => names[key] ?? key);
}
