/** Details of a call that an upstream reports in addition to its tokens. Absent fields were not reported. */
export interface UsageDetails {
  /** Tokens of the prompt that came from the upstream's cache. */
  readonly cacheReadTokens?: number;
  /** Tokens of the prompt that were written to it. */
  readonly cacheWriteTokens?: number;
  /** Those of them that the cache keeps for an hour instead of 5 minutes. */
  readonly cacheWrite1hTokens?: number;
  /** The tier that the upstream served the call in. */
  readonly serviceTier?: string;
}
