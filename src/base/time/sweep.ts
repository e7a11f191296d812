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
  /** How many there are; changed by `add` and `delete` alone. */
  size = 0;
  /** A place is undefined while nobody has it. While they are visited, any may come and go. */
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

const TICK_MS = 50;

/** Something whose time may run out. */
export interface Swept extends Slotted {
  /** Called about every 50 ms while watched. `elapsedMs` is bounded, so that a stalled event loop expires nothing unread. */
  sweep(nowMs: number, elapsedMs: number): void;
}

/** One timer for all time limits of a client, instead of one for each request. It runs, unreferenced, only while something is watched. */
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
    const elapsedMs = Math.min(nowMs - sweep.#lastMs, 2 * TICK_MS);
    sweep.#lastMs = nowMs;
    for (const watched of sweep.slots) watched?.sweep(nowMs, elapsedMs);
  }

  override add(watched: Swept): void {
    super.add(watched);
    if (this.#timer === null) {
      this.#lastMs = performance.now();
      this.#timer = setInterval(Sweep.#tick, TICK_MS, this);
      this.#timer.unref();
    }
  }
}
