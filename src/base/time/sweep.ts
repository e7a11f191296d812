/** An item of `Slots`. It stores its own index, which is -1 while it is in no set. */
export interface SlotItem {
  slot: number;
}

/**
 * A set of objects that are added and removed with every call, stored in one array with reusable slots. A `Set` allocates a new
 * table after every few hundred additions and deletions. A discarded table in the old generation keeps its entries, and with them
 * complete calls, alive until the next full garbage collection.
 */
export class Slots<Item extends SlotItem> {
  /** Number of items. Only `add` and `delete` change it. */
  size = 0;
  /** The items. Free slots are undefined. Items may be added and removed during iteration. */
  readonly slots: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  add(item: Item): void {
    if (item.slot !== -1) return;
    item.slot = this.#free.pop() ?? this.slots.length;
    this.slots[item.slot] = item;
    this.size += 1;
  }

  delete(item: Item): void {
    const { slot } = item;
    if (slot === -1) return;
    item.slot = -1;
    this.slots[slot] = undefined;
    this.#free.push(slot);
    this.size -= 1;
  }
}

const tickMs = 50;

/** An object with a time limit. */
export interface Swept extends SlotItem {
  /**
   * Called about every 50 ms while the object is watched. `elapsedMs` is bounded, so that a stalled event loop does not expire
   * objects whose input is still unread.
   */
  sweep(nowMs: number, elapsedMs: number): void;
}

/** One timer for all time limits of a client. The timer is unreferenced and runs only while objects are watched. */
export class Sweep extends Slots<Swept> {
  #timer: NodeJS.Timeout | null = null;
  #lastMs = 0;

  static #tick(sweep: Sweep): void {
    if (sweep.size === 0) {
      if (sweep.#timer !== null) clearInterval(sweep.#timer);
      sweep.#timer = null;
      return;
    }
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - sweep.#lastMs, 2 * tickMs);
    sweep.#lastMs = nowMs;
    for (const watched of sweep.slots) watched?.sweep(nowMs, elapsedMs);
  }

  override add(watched: Swept): void {
    super.add(watched);
    if (this.#timer === null) {
      this.#lastMs = performance.now();
      this.#timer = setInterval(Sweep.#tick, tickMs, this);
      this.#timer.unref();
    }
  }
}
