/** Numbers that are the same for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to `end`, which is not reached. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** One of these; throws if there is none. */
  pick<Value>(values: readonly Value[]): Value {
    if (values.length === 0) throw new Error('there is nothing to pick from');
    return values[this.below(values.length)] as Value;
  }

  /** True in so many cases of one. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Another row of numbers, which depends on this one and on nothing that is drawn from it later. */
  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
