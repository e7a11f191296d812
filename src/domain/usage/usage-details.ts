/** Details of a call that an upstream reports in addition to tokens. An undefined field was not reported. */
export interface UsageDetails {
  /** Prompt tokens that the upstream read from its cache. */
  readonly cacheReadTokens?: number;
  /** Prompt tokens that the upstream wrote to its cache. */
  readonly cacheWriteTokens?: number;
  /** Written tokens that are cached for an hour instead of 5 minutes. */
  readonly cacheWrite1hTokens?: number;
  /** Service tier of the call at the upstream. */
  readonly serviceTier?: string;
}
