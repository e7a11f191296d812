import type { ModelUsage, Statistics, Usage } from '#contract/chunk.ts';
import { addUp, toModelUsages } from './usage.ts';

/** Adds up the tokens of calls that belong together: those of a run, or those that an application makes while it answers one. */
export class UsageCollector {
  #items: readonly ModelUsage[] = [];

  add(items: readonly ModelUsage[]): void {
    this.#items = toModelUsages([...this.#items, ...items]);
  }

  /** One item for each model; empty if nothing was used. */
  get items(): readonly ModelUsage[] {
    return this.#items;
  }

  /** `usage` is the sum, `statistics` the parts (contract: points read two ways). */
  totals(): { usage: Usage; statistics: Statistics } {
    return { usage: addUp(this.#items) as Usage, statistics: { usage_per_model: [...this.#items] } };
  }
}
