import type { Clock } from '#base/time/clock.ts';
import type { RunStore } from '#domain/responses/response-store.ts';

const renewMs = 4_000;
/** How long others wait for a node that says nothing. */
const leaseMs = 15_000;

export interface NodeLeaseDeps {
  readonly runs: Pick<RunStore, 'renewLease' | 'releaseLease'>;
  /** The name of this node, another one with each start. */
  readonly node: string;
  readonly clock: Clock;
}

/** Says of this node that it lives, as long as it answers anything that others would have to end if it did not. */
export class NodeLease {
  readonly node: string;
  readonly #deps: NodeLeaseDeps;
  #untilMs = 0;
  #renewing: Promise<void> | undefined;
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: NodeLeaseDeps) {
    this.node = deps.node;
    this.#deps = deps;
  }

  /** Resolves once it is said; to be called ahead of what is to be held, which `release` lets go of. Throws StoreFault. */
  async hold(): Promise<void> {
    this.#holders += 1;
    this.#timer ??= setInterval(() => void this.#renew().catch(() => undefined), renewMs).unref();
    if (this.#deps.clock.epochMs() + leaseMs / 2 < this.#untilMs) return;
    try {
      await this.#renew();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Says that it has stopped, so that nobody waits for it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing?.catch(() => undefined);
    if (this.#untilMs > 0) await this.#deps.runs.releaseLease(this.node);
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#write().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #write(): Promise<void> {
    const untilMs = this.#deps.clock.epochMs() + leaseMs;
    await this.#deps.runs.renewLease(this.node, untilMs);
    this.#untilMs = untilMs;
  }
}
