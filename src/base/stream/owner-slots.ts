/** Too much of one owner is under way. */
export class NoSlotFault extends Error {
  override readonly name = 'NoSlotFault';
}

/** Lets each owner have so many things done at once, and refuses what is more. */
export class OwnerSlots {
  readonly #slots: number;
  readonly #taken = new Map<string, number>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** What the work gives. Rejects with NoSlotFault before it begins, or with what it throws. */
  async run<Value>(owner: string, work: () => Promise<Value>): Promise<Value> {
    const taken = this.#taken.get(owner) ?? 0;
    if (taken >= this.#slots) throw new NoSlotFault(`${this.#slots} of them are under way already`);
    this.#taken.set(owner, taken + 1);
    try {
      return await work();
    } finally {
      const left = (this.#taken.get(owner) ?? 1) - 1;
      if (left === 0) this.#taken.delete(owner);
      else this.#taken.set(owner, left);
    }
  }
}
