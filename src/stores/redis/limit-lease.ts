import type { Clock } from '#base/clock.ts';

const renewalsInLife = 4;

export interface LimitLeaseDeps {
  /** Names this process among others. */
  readonly node: string;
  readonly clock: Clock;
  readonly lifeMs: number;
  /** Makes the lease last from now on. */
  readonly renew: (id: string) => Promise<unknown>;
  readonly end: (ids: readonly string[]) => Promise<unknown>;
}

/**
 * What the claims of a process stand under: they end with it, at most its life after the process. It is renewed as long as there
 * are such claims. After a fault another one takes its place, since it is not known what was carried out, and the old one ends as
 * soon as Redis can be told: what could not be given back must not stand in the way.
 */
export class LimitLease {
  readonly #deps: LimitLeaseDeps;
  readonly #renewal: NodeJS.Timeout;
  readonly #abandoned = new Set<string>();
  #serial = 0;
  #claims = 0;
  #renewedAtMs: number;

  constructor(deps: LimitLeaseDeps) {
    this.#deps = deps;
    this.#renewedAtMs = deps.clock.nowMs();
    this.#renewal = setInterval(() => this.#renew(), deps.lifeMs / renewalsInLife).unref();
  }

  /** Under which claims are made now. */
  get id(): string {
    const { clock, lifeMs } = this.#deps;
    if (this.#claims > 0 && clock.nowMs() - this.#renewedAtMs >= lifeMs) this.abandon();
    return this.#current;
  }

  get #current(): string {
    return `${this.#deps.node}.${this.#serial}`;
  }

  /** Called when claims were made under it, which has renewed it. */
  claimed(id: string): void {
    if (id !== this.id) return;
    this.#claims += 1;
    this.#renewedAtMs = this.#deps.clock.nowMs();
  }

  /** Called when they were given back. */
  settled(id: string): void {
    if (id === this.id) this.#claims -= 1;
  }

  abandon(): void {
    this.#abandoned.add(this.#current);
    this.#serial += 1;
    this.#claims = 0;
  }

  /** Ends those that were abandoned. */
  async end(): Promise<void> {
    const ids = [...this.#abandoned];
    if (ids.length === 0) return;
    await this.#deps.end(ids);
    for (const id of ids) this.#abandoned.delete(id);
  }

  close(): void {
    clearInterval(this.#renewal);
  }

  #renew(): void {
    if (this.#claims === 0) return;
    const atMs = this.#deps.clock.nowMs();
    // If it fails, the next one may come in time.
    this.#deps.renew(this.id).then(
      () => {
        this.#renewedAtMs = Math.max(this.#renewedAtMs, atMs);
      },
      () => undefined,
    );
  }
}
