import { IsolationFault } from './run-isolated.ts';

interface FairQueueOptions {
  /** How many things are done at once, each of another owner. */
  readonly slots: number;
  /** How many of one owner may wait; default: any number. */
  readonly maxWaiting?: number;
}

/** A line for work that is heavy: what one owner has waits for what it has already, and owners take turns. */
export class FairQueue {
  readonly #slots: number;
  readonly #maxWaiting: number;
  /** By owner, the one whose turn is next first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Set<string>();

  constructor({ slots, maxWaiting = Number.POSITIVE_INFINITY }: FairQueueOptions) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  /** What the work gives, once its turn has come. Throws IsolationFault `busy`, and the signal's reason if it is aborted before its turn. */
  async run<Value>(owner: string, work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    await this.#turn(owner, signal);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  /** Whoever was served goes behind the others. */
  #leave(owner: string): void {
    this.#running.delete(owner);
    const line = this.#waiting.get(owner);
    this.#waiting.delete(owner);
    if (line !== undefined) this.#waiting.set(owner, line);
    this.#goOn();
  }

  #turn(owner: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const line = this.#waiting.get(owner) ?? [];
    if (line.length >= this.#maxWaiting)
      throw new IsolationFault('busy', `${this.#maxWaiting} documents of this user wait to be read already; try again later`);
    this.#waiting.set(owner, line);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        line.splice(line.indexOf(begin), 1);
        if (line.length === 0) this.#waiting.delete(owner);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      line.push(begin);
      this.#goOn();
    });
  }

  #goOn(): void {
    for (const [owner, line] of this.#waiting) {
      if (this.#running.size >= this.#slots) return;
      if (this.#running.has(owner)) continue;
      const begin = line.shift();
      if (line.length === 0) this.#waiting.delete(owner);
      this.#running.add(owner);
      begin?.();
    }
  }
}

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
