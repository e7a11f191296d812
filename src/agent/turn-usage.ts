import type { Chunk, ModelUsage, Statistics, Usage } from '#contract/chat/chunk.ts';
import { toModelUsage, toModelUsages } from '#domain/usage/usage.ts';

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
}
