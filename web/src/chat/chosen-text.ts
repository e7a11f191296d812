import type { CompletedControl } from '#contract/message.ts';

/** A completed control in words: its label and what was filled in. */
export function toChosenText({ label, value }: CompletedControl): string {
  const filled = Object.entries(value ?? {}).map(
    ([key, item]) => `${key}: ${typeof item === 'string' ? item : JSON.stringify(item)}`,
  );
  return [label, ...filled].join(' · ');
}
