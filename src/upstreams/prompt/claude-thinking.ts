/** Thinking tokens for each effort. */
const budgets: ReadonlyMap<unknown, number> = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 32_768],
  ['max', 65_536],
]);
const minBudget = 1024;
/** Maximum fraction of the reply's tokens that may be used for thinking. */
const maxFraction = 0.8;

/** Returns whether Claude models support this effort. */
export function isThinkingEffort(effort: unknown): boolean {
  return budgets.has(effort);
}

/**
 * Returns the thinking budget of an effort for a reply of at most `maxTokens`. Returns undefined if the budget would be too
 * small.
 */
export function computeThinkingBudget(effort: unknown, maxTokens: number): number | undefined {
  const budget = Math.min(budgets.get(effort) ?? 0, Math.floor(maxTokens * maxFraction));
  return budget < minBudget ? undefined : budget;
}

/**
 * Returns whether a Claude model accepts an effort instead of a budget. Version 4.6 and later versions do. The model name is
 * `claude-<family>-<major>[-<minor>]`, optionally with a date or a vendor's prefix.
 */
export function usesAdaptiveThinking(model: string): boolean {
  // Pattern bound: the name of a model, which an administrator writes.
  const [, major = '', minor = '0'] = /claude-[a-z]+-(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? [];
  return Number(major) > 4 || (major === '4' && Number(minor) >= 6);
}
