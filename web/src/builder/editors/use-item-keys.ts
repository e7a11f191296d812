import { useState } from 'react';

/** Keys that stay with the items of a list while others come and go. */
export function useItemKeys(count: number): { readonly keys: readonly number[]; readonly forget: (index: number) => void } {
  const [{ keys, next }, setState] = useState(() => ({ keys: [...Array(count).keys()], next: count }));
  if (keys.length !== count) {
    const kept = keys.slice(0, count);
    const added = Array.from({ length: count - kept.length }, (_, index) => next + index);
    setState({ keys: [...kept, ...added], next: next + added.length });
  }
  const forget = (index: number): void => setState((now) => ({ ...now, keys: now.keys.filter((_, at) => at !== index) }));
  return { keys, forget };
}
