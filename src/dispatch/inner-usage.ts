import type { ModelUsage } from '#contract/chunk.ts';
import { toModelUsages } from '#domain/usage.ts';

/** Tokens of the calls that an application makes while it answers one. */
export class InnerUsage {
  #items: ModelUsage[] = [];

  add(items: readonly ModelUsage[]): void {
    this.#items = toModelUsages([...this.#items, ...items]);
  }

  /** One item a model. */
  usage(): readonly ModelUsage[] {
    return this.#items;
  }
}
