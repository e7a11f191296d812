import type { KeyboardEvent } from 'react';

/**
 * Moves the focus between matching elements: arrow keys to the neighbors, Home and End to the ends. In a text field, Home and End
 * keep their function.
 */
export function moveFocus(event: KeyboardEvent<HTMLElement>, selector: string): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)];
  const next = findNextIndex(event, stops);
  if (next === undefined) return;
  event.preventDefault();
  stops[Math.min(Math.max(next, 0), stops.length - 1)]?.focus();
}

function findNextIndex(
  { key, target, ctrlKey, metaKey, altKey }: KeyboardEvent,
  stops: readonly HTMLElement[],
): number | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  const index = stops.indexOf(document.activeElement as HTMLElement);
  if (index === -1) return undefined;
  if (key === 'ArrowDown') return index + 1;
  if (key === 'ArrowUp') return index - 1;
  if (target instanceof HTMLInputElement) return undefined;
  if (key === 'Home') return 0;
  return key === 'End' ? stops.length - 1 : undefined;
}
