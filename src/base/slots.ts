/** What `Slots` can hold: the item keeps its own place, -1 while it has none. */
export interface Slotted {
  slot: number;
}

/**
 * A set of objects that come and go with every call, in one array whose places are used again. A `Set` that is added to and deleted
 * from makes a new table every few hundred times; a discarded one in the old generation keeps alive all that was in it, whole
 * calls, until the next full garbage collection.
 */
export class Slots<Item extends Slotted> {
  readonly #items: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  add(item: Item): void {
    if (item.slot !== -1) return;
    item.slot = this.#free.pop() ?? this.#items.length;
    this.#items[item.slot] = item;
  }

  delete(item: Item): void {
    const { slot } = item;
    if (slot === -1) return;
    item.slot = -1;
    this.#items[slot] = undefined;
    this.#free.push(slot);
  }

  /** Calls `visit` with each item; it may add and delete any. */
  each(visit: (item: Item) => void): void {
    for (let at = 0; at < this.#items.length; at += 1) {
      const item = this.#items[at];
      if (item !== undefined) visit(item);
    }
  }
}
