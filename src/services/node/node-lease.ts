import type { Clock } from '#base/time/clock.ts';
import type { RunStore } from '#domain/responses/response-store.ts';

const renewIntervalMs = 4_000;
/** Time after which other nodes treat a node without renewals as stopped. */
const leaseMs = 15_000;

export interface NodeLeaseDeps {
  readonly leases: Pick<RunStore, 'renewLease' | 'releaseLease'>;
  /** Name of this node. It is new after each start. */
  readonly node: string;
  readonly clock: Clock;
}

/** Renews this node's lease while it has holders, so that other nodes do not mark its work as failed. */
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

  /** Resolves after the lease is valid. Call it before the work starts, and `release` when the work ends. Throws `StoreError`. */
  async hold(): Promise<void> {
    this.#holders += 1;
    this.#timer ??= setInterval(() => void this.#renew().catch(() => undefined), renewIntervalMs).unref();
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

  /** Ends the lease, so that other nodes do not wait for this node. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing?.catch(() => undefined);
    if (this.#untilMs > 0) await this.#deps.leases.releaseLease(this.node);
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#write().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #write(): Promise<void> {
    const untilMs = this.#deps.clock.epochMs() + leaseMs;
    await this.#deps.leases.renewLease(this.node, untilMs);
    this.#untilMs = untilMs;
  }
}
