import type { Chunk, ModelUsage, Statistics, Usage } from '#contract/chat/chunk.ts';
import { type PricedUsage, toModelUsage, toModelUsages } from '#domain/usage/usage.ts';

/** What one model call used: its statistics if it has some, else its usage under the model's name. */
export class TurnUsage {
  readonly #model: string;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;

  constructor(model: string) {
    this.#model = model;
  }

  take(chunk: Chunk): void {
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.statistics) this.#statistics = chunk.statistics;
  }

  items(): ModelUsage[] {
    const parts = toModelUsages(this.#statistics?.usage_per_model);
    return parts.length > 0 || this.#usage === undefined ? parts : [toModelUsage(this.#model, this.#usage)];
  }

  /** The items with the cached tokens of the model's own reply, which have prices of their own. */
  pricedItems(): PricedUsage[] {
    const [item, ...others] = this.items();
    if (item === undefined || others.length > 0 || item.prompt_tokens !== this.#usage?.prompt_tokens) return this.items();
    return [{ ...item, prompt_tokens_details: this.#usage.prompt_tokens_details }];
  }
}
