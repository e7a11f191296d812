/** Tokens of thought for each effort. */
const budgets: ReadonlyMap<unknown, number> = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 32_768],
  ['max', 65_536],
]);
const minBudget = 1024;
/** Share of all tokens that thoughts may take at most: the rest is for the answer. */
const maxFraction = 0.8;

/** Whether that is an effort that a Claude knows. */
export function isEffort(effort: unknown): boolean {
  return budgets.has(effort);
}

/** The tokens of thought that an effort stands for in a reply of at most `maxTokens`; undefined if too few are left to think. */
export function toBudget(effort: unknown, maxTokens: number): number | undefined {
  const budget = Math.min(budgets.get(effort) ?? 0, Math.floor(maxTokens * maxFraction));
  return budget < minBudget ? undefined : budget;
}

/** Whether a Claude takes an effort, as those of 4.6 and later do, rather than a budget: `claude-<family>-<major>[-<minor>]`, maybe with a date or a vendor's prefix. */
export function usesAdaptiveThinking(model: string): boolean {
  // Pattern bound: a model's name in the configuration.
  const [, major = '', minor = '0'] = /claude-[a-z]+-(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? [];
  return Number(major) > 4 || (major === '4' && Number(minor) >= 6);
}
