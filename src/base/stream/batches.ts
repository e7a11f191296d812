/** Maximum number of items in one write. */
const maxBatchItems = 100;
/** After this many errors in a row, the remaining items of a failed batch are not written separately. */
const maxErrors = 2;

interface PendingItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes items in batches. Items that arrive during a write, or within the same turn of the event loop, form the next batch. A
 * batch costs little more than a single item.
 */
export class Batches<Item, Result> {
  readonly #write: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: PendingItem<Item, Result>[] = [];
  #isWriting = false;

  /** `write` must return one result per item, in the order of the items. */
  constructor(write: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#write = write;
  }

  /**
   * Resolves with the result of the item after it is written. The items of a failed batch are written again separately, so the
   * promise rejects with the error of the item. After `maxErrors` errors in a row, it rejects with an earlier error of the batch.
   */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      queueMicrotask(() => void this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatchItems);
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        if (batch.length === 1) batch[0]?.reject(error);
        else await this.#writeEach(batch);
      }
    }
    this.#isWriting = false;
  }

  async #writeBatch(batch: readonly PendingItem<Item, Result>[]): Promise<void> {
    const results = await this.#write(batch.map(({ item }) => item));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  }

  async #writeEach(batch: readonly PendingItem<Item, Result>[]): Promise<void> {
    let errors: unknown[] = [];
    for (const pending of batch) {
      if (errors.length === maxErrors) {
        pending.reject(errors[0]);
        continue;
      }
      try {
        await this.#writeBatch([pending]);
        errors = [];
      } catch (error) {
        errors.push(error);
        pending.reject(error);
      }
    }
  }
}

/** Yields the items in batches of at most `size` items, in order. */
export function* splitIntoBatches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
