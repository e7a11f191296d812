import { isJsonObject } from '#base/json/json.ts';
import type { ModelUsage, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { unitsPerUsd } from '#domain/limits/limits.ts';
import { findUsage } from '#domain/usage/reported-usage.ts';
import { computeCost, countCached, estimateTokens, sumCounts, type TokenCounts, toModelUsages } from '#domain/usage/usage.ts';
import type { UsageDetails } from '#domain/usage/usage-details.ts';

const maxTierChars = 32;

/** What is known of a reply's tokens before it comes. */
export interface TotalsFacts {
  /** A model's tokens count for itself; an application reports those of the models behind it. */
  readonly deployment: Pick<Deployment, 'id' | 'kind' | 'ownership' | 'quickApp'> & Partial<Pick<Deployment, 'pricing'>>;
  /** Estimated tokens of the request, for upstreams that report none. */
  readonly promptTokens: number;
  /** What the inner calls of an application reported to Parley. */
  readonly inner: { readonly items: readonly ModelUsage[] } | undefined;
  /** Whether the usage includes the cost of the reply, if the deployment has prices. */
  readonly includesCost?: boolean;
}

interface Totals {
  readonly usage: Usage;
  readonly statistics: Statistics;
}

/** Usage and statistics of one reply, as far as it has come; what no upstream reports is estimated. */
export class UsageTotals {
  readonly #facts: TotalsFacts;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;
  #serviceTier: string | undefined;
  #chars = 0;
  #isPartial = false;
  #cachedTotals: Totals | undefined;

  constructor(facts: TotalsFacts) {
    this.#facts = facts;
  }

  /** Reads the usage and statistics of a chunk or a completion of an upstream, if it has any. */
  note(reply: {
    readonly usage?: unknown;
    readonly choices?: unknown;
    readonly statistics?: unknown;
    readonly service_tier?: unknown;
  }): void {
    const { statistics, service_tier: tier } = reply;
    if (typeof tier === 'string') this.#serviceTier = tier;
    const usage = findUsage(reply);
    if (usage !== undefined) this.#usage = usage;
    else if (!isJsonObject(statistics)) return;
    if (isJsonObject(statistics)) this.#statistics = statistics as Statistics;
    this.#cachedTotals = undefined;
  }

  /** Until `complete`, what is reported may cover only the beginning of the reply. */
  markPartial(): void {
    this.#isPartial = true;
  }

  /** The reply ended without a fault. */
  complete(): void {
    this.#cachedTotals = undefined;
    this.#isPartial = false;
  }

  /** Adds text, thoughts or arguments of that many chars. */
  addChars(chars: number): void {
    this.#cachedTotals = undefined;
    this.#chars += chars;
  }

  /** Tokens of each model, and the usage as the upstream reported it, if it did. */
  totals(): Totals {
    if (this.#cachedTotals !== undefined) return this.#cachedTotals;
    const perModel = this.#perModel();
    const usage = this.#withCost(this.#reported() ?? { ...sumCounts(perModel) });
    this.#cachedTotals = { usage, statistics: { ...this.#statistics, usage_per_model: perModel } };
    return this.#cachedTotals;
  }

  /** Returns the details of the upstream's cache and tier for the records of the call. */
  details(): UsageDetails {
    const usage = this.#reported();
    if (usage === undefined) return {};
    const { readTokens, writtenTokens, hourWrittenTokens } = countCached(usage);
    const tier = typeof usage.service_tier === 'string' ? usage.service_tier : this.#serviceTier;
    return {
      ...(readTokens > 0 && { cacheReadTokens: readTokens }),
      ...(writtenTokens > 0 && { cacheWriteTokens: writtenTokens }),
      ...(hourWrittenTokens > 0 && { cacheWrite1hTokens: hourWrittenTokens }),
      ...(tier !== undefined && { serviceTier: tier.slice(0, maxTierChars) }),
    };
  }

  /**
   * Tokens of each model that count against limits and are recorded. An application that a user saved, and one without code, is
   * billed only for the calls that Parley metered inside. Any other usage that it declares is an unverified claim of its owner.
   */
  billed(): readonly ModelUsage[] {
    const { deployment, inner } = this.#facts;
    if (deployment.kind === 'model') return this.totals().statistics.usage_per_model;
    if (deployment.ownership !== null || deployment.quickApp !== undefined) return toModelUsages(inner?.items);
    return this.totals().statistics.usage_per_model.filter(({ declared }) => declared !== true);
  }

  #withCost(usage: Usage): Usage {
    const { includesCost, deployment } = this.#facts;
    const { pricing } = deployment;
    if (includesCost !== true || pricing === undefined) return usage;
    return { ...usage, cost: computeCost({ pricing }, usage) / unitsPerUsd };
  }

  /** What the upstream reported; if it covers the beginning only, raised to the estimate. */
  #reported(): Usage | undefined {
    if (this.#usage === undefined || !this.#isPartial) return this.#usage;
    const completion_tokens = Math.max(this.#usage.completion_tokens, estimateTokens(this.#chars));
    return { ...this.#usage, completion_tokens, total_tokens: this.#usage.prompt_tokens + completion_tokens };
  }

  #perModel(): ModelUsage[] {
    const { kind, ownership, quickApp } = this.#facts.deployment;
    if (kind === 'application') {
      if (ownership !== null && quickApp === undefined) return this.#declared();
      if (this.#statistics !== undefined) return toModelUsages(this.#statistics.usage_per_model);
      const items = this.#facts.inner?.items;
      if (items !== undefined && items.length > 0) return toModelUsages(items);
      return this.#usage === undefined ? [] : [this.#toOwnUsage(this.#usage)];
    }
    const reported = this.#reported();
    if (reported !== undefined) return [this.#toOwnUsage(reported)];
    const completion = estimateTokens(this.#chars);
    const prompt = this.#facts.promptTokens;
    const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    return [{ ...this.#toOwnUsage(counts), estimated: true }];
  }

  /**
   * Returns the tokens that the program of a saved application declares, marked as declared, else the usage of its inner calls.
   */
  #declared(): ModelUsage[] {
    const parts = toModelUsages(this.#statistics?.usage_per_model);
    const items = parts.length === 0 && this.#usage !== undefined ? [this.#toOwnUsage(this.#usage)] : parts;
    return items.length > 0
      ? items.map((item) => ({ ...item, declared: true as const }))
      : toModelUsages(this.#facts.inner?.items);
  }

  #toOwnUsage({ prompt_tokens, completion_tokens, total_tokens }: TokenCounts): ModelUsage {
    const { id } = this.#facts.deployment;
    return { index: 0, model: id, name: id, prompt_tokens, completion_tokens, total_tokens };
  }
}
