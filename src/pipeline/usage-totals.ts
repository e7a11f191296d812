import { isJsonObject } from '#base/json/json.ts';
import type { ModelUsage, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { unitsPerUsd } from '#domain/limits/limits.ts';
import { findUsage } from '#domain/usage/reported-usage.ts';
import {
  computeCost,
  countCached,
  estimateTokens,
  sumCounts,
  type TokenCounts,
  toModelUsages,
  type UsageDetails,
} from '#domain/usage/usage.ts';

const maxTierChars = 32;

/** Facts about the tokens of a reply that are known before it starts. */
export interface TotalsFacts {
  /** The tokens of a model count as its own. An application reports the tokens of the models that it calls. */
  readonly deployment: Pick<Deployment, 'id' | 'kind' | 'ownership' | 'quickApp'> & Partial<Pick<Deployment, 'pricing'>>;
  /** Estimated tokens of the request, for upstreams that report no usage. */
  readonly promptTokens: number;
  /** Usage of the inner calls of an application, as Parley metered them. */
  readonly inner: { readonly items: readonly ModelUsage[] } | undefined;
  /** Whether the usage includes the cost of the reply, if the deployment has prices. */
  readonly includesCost?: boolean;
}

interface Totals {
  readonly usage: Usage;
  readonly statistics: Statistics;
}

/** Usage and statistics of one reply so far. Values that no upstream reports are estimated. */
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

  /** Records the usage and statistics of an upstream's chunk or completion, if it has any. */
  record(reply: {
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

  /** Marks the reported usage as covering only the start of the reply, until `complete` is called. */
  markPartial(): void {
    this.#isPartial = true;
  }

  /** Records that the reply ended without an error. */
  complete(): void {
    this.#cachedTotals = undefined;
    this.#isPartial = false;
  }

  /** Counts characters of text, thoughts, or arguments. */
  addChars(chars: number): void {
    this.#cachedTotals = undefined;
    this.#chars += chars;
  }

  /** Returns the tokens of each model, and the usage of the reply. */
  getTotals(): Totals {
    if (this.#cachedTotals !== undefined) return this.#cachedTotals;
    const perModel = this.#getUsagePerModel();
    const usage = this.#withCost(this.#toRunUsage(perModel));
    this.#cachedTotals = { usage, statistics: { ...this.#statistics, usage_per_model: perModel } };
    return this.#cachedTotals;
  }

  /** Returns the cached tokens and the service tier for the record of the call. */
  getDetails(): UsageDetails {
    const usage = this.#getReportedUsage();
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
   * Returns the tokens of each model that count against limits and are recorded. A quick app, and any application that a user
   * saved, is billed only for its inner calls, which Parley metered. Any other usage that it declares is an unverified claim of
   * its owner.
   */
  getBilledUsage(): readonly ModelUsage[] {
    const { deployment, inner } = this.#facts;
    if (deployment.kind === 'model') return this.getTotals().statistics.usage_per_model;
    if (deployment.ownership !== null || deployment.quickApp !== undefined) return toModelUsages(inner?.items);
    return this.getTotals().statistics.usage_per_model.filter(({ declared }) => declared !== true);
  }

  /** Returns the usage that the upstream reported. If it reported none, or fewer tokens than the models used, returns the sum. */
  #toRunUsage(perModel: readonly ModelUsage[]): Usage {
    const reported = this.#getReportedUsage();
    const sum = sumCounts(perModel);
    return reported === undefined || reported.total_tokens < sum.total_tokens ? { ...reported, ...sum } : reported;
  }

  #withCost(usage: Usage): Usage {
    const { includesCost, deployment } = this.#facts;
    const { pricing } = deployment;
    if (includesCost !== true || pricing === undefined) return usage;
    return { ...usage, cost: computeCost({ pricing }, usage) / unitsPerUsd };
  }

  /** Returns the reported usage. If it covers only the start of the reply, its completion tokens are raised to the estimate. */
  #getReportedUsage(): Usage | undefined {
    if (this.#usage === undefined || !this.#isPartial) return this.#usage;
    const completion_tokens = Math.max(this.#usage.completion_tokens, estimateTokens(this.#chars));
    return { ...this.#usage, completion_tokens, total_tokens: this.#usage.prompt_tokens + completion_tokens };
  }

  #getUsagePerModel(): ModelUsage[] {
    const { kind, ownership, quickApp } = this.#facts.deployment;
    if (kind === 'application') {
      if (ownership !== null && quickApp === undefined) return this.#getDeclaredUsage();
      if (this.#statistics !== undefined) return toModelUsages(this.#statistics.usage_per_model);
      const items = this.#facts.inner?.items;
      if (items !== undefined && items.length > 0) return toModelUsages(items);
      if (quickApp !== undefined && this.#usage === undefined) return [];
    }
    const reported = this.#getReportedUsage();
    if (reported !== undefined) return [this.#toOwnUsage(reported)];
    const completion = estimateTokens(this.#chars);
    const prompt = this.#facts.promptTokens;
    const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    return [{ ...this.#toOwnUsage(counts), estimated: true }];
  }

  /**
   * Returns the tokens that a saved application declares, marked as declared. If it declares none, returns the usage of its inner
   * calls.
   */
  #getDeclaredUsage(): ModelUsage[] {
    const modelUsages = toModelUsages(this.#statistics?.usage_per_model);
    const items = modelUsages.length === 0 && this.#usage !== undefined ? [this.#toOwnUsage(this.#usage)] : modelUsages;
    return items.length > 0
      ? items.map((item) => ({ ...item, declared: true as const }))
      : toModelUsages(this.#facts.inner?.items);
  }

  #toOwnUsage({ prompt_tokens, completion_tokens, total_tokens }: TokenCounts): ModelUsage {
    const { id } = this.#facts.deployment;
    return { index: 0, model: id, name: id, prompt_tokens, completion_tokens, total_tokens };
  }
}
