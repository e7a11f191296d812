import type { ModelUsage, Statistics, Usage } from '#contract/chunk.ts';
import { estimateTokens } from '#domain/usage/estimate-tokens.ts';
import { addUp, isReported, type TokenCounts, toModelUsages, toUsage } from '#domain/usage/usage.ts';

/** What is known of a reply's tokens before it comes. */
export interface TotalsFacts {
  readonly deployment: string;
  /** A model's tokens count for itself; an application reports those of the models behind it. */
  readonly kind: 'model' | 'application';
  /** Estimated tokens of the request, for upstreams that report none. */
  readonly promptTokens: number;
  /** Usage that inner calls reported to Parley. */
  readonly innerUsage: () => readonly ModelUsage[];
}

/** Usage and statistics of one reply, as far as it has come; what no upstream reports is estimated. */
export class ReplyTotals {
  readonly #facts: TotalsFacts;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;
  #chars = 0;
  /** Whether what is reported may be of the reply's beginning only. */
  isPartial = false;

  constructor(facts: TotalsFacts) {
    this.#facts = facts;
  }

  note({ usage, statistics }: { readonly usage?: Usage | null | undefined; readonly statistics?: Statistics }): void {
    if (usage && isReported(usage)) this.#usage = toUsage(usage);
    if (statistics) this.#statistics = statistics;
  }

  /** Adds text, thoughts or arguments of that many chars. */
  said(chars: number): void {
    this.#chars += chars;
  }

  /** Tokens a model, and the usage as the upstream reported it, where it did. */
  totals(): { usage: Usage; statistics: Statistics } {
    const perModel = this.#perModel();
    return { usage: this.#reported() ?? { ...addUp(perModel) }, statistics: { ...this.#statistics, usage_per_model: perModel } };
  }

  /** What the upstream reported; of a beginning it is made good by an estimate. */
  #reported(): Usage | undefined {
    if (this.#usage === undefined || !this.isPartial) return this.#usage;
    const completion_tokens = Math.max(this.#usage.completion_tokens, estimateTokens(this.#chars));
    return toUsage({ ...this.#usage, completion_tokens });
  }

  #perModel(): ModelUsage[] {
    if (this.#facts.kind === 'application') {
      if (this.#statistics !== undefined) return toModelUsages(this.#statistics.usage_per_model);
      const inner = this.#facts.innerUsage();
      if (inner.length > 0) return toModelUsages(inner);
      return this.#usage === undefined ? [] : [this.#own(this.#usage)];
    }
    const reported = this.#reported();
    if (reported !== undefined) return [this.#own(reported)];
    const completion = estimateTokens(this.#chars);
    const prompt = this.#facts.promptTokens;
    const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    return [{ ...this.#own(counts), estimated: true }];
  }

  #own({ prompt_tokens, completion_tokens, total_tokens }: TokenCounts): ModelUsage {
    const { deployment } = this.#facts;
    return { index: 0, model: deployment, name: deployment, prompt_tokens, completion_tokens, total_tokens };
  }
}
