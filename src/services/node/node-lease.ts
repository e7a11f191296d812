import type { Clock } from '#base/time/clock.ts';
import type { RunStore } from '#domain/responses/response-store.ts';

const renewMs = 4_000;
/** How long others wait for a node that says nothing. */
const leaseMs = 15_000;

export interface NodeLifeDeps {
  readonly runs: Pick<RunStore, 'keepAlive' | 'leave'>;
  /** The name of this node, another one with each start. */
  readonly node: string;
  readonly clock: Clock;
}

/** Says of this node that it lives, as long as it answers anything that others would have to end if it did not. */
export class NodeLife {
  readonly node: string;
  readonly #deps: NodeLifeDeps;
  #untilMs = 0;
  #renewing: Promise<void> | undefined;
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: NodeLifeDeps) {
    this.node = deps.node;
    this.#deps = deps;
  }

  /** Resolves once it is said; to be called ahead of what is to be held, which `release` lets go of. Throws StoreFault. */
  async hold(): Promise<void> {
    this.#held += 1;
    this.#timer ??= setInterval(() => void this.#renew().catch(() => undefined), renewMs).unref();
    if (this.#deps.clock.epochMs() + leaseMs / 2 < this.#untilMs) return;
    try {
      await this.#renew();
    } catch (thrown) {
      this.release();
      throw thrown;
    }
  }

  release(): void {
    this.#held -= 1;
    if (this.#held > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Says that it has stopped, so that nobody waits for it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing?.catch(() => undefined);
    if (this.#untilMs > 0) await this.#deps.runs.leave(this.node);
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#say().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #say(): Promise<void> {
    const untilMs = this.#deps.clock.epochMs() + leaseMs;
    await this.#deps.runs.keepAlive(this.node, untilMs);
    this.#untilMs = untilMs;
  }
}
