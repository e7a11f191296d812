import type { Counter, LeasedClaims, LimitStore, RequestedClaim, ReserveOutcome } from '#domain/limits/limit-store.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';

/** Limit store for subclasses that delay calls or make them fail. */
export class DelegatingLimitStore implements LimitStore {
  readonly #store = new MemoryLimitStore();

  /** Called before each reservation. The reservation waits for the returned promise. */
  protected beforeReserve(): Promise<void> | undefined {
    return undefined;
  }

  protected beforeSettle(): Promise<void> {
    return Promise.resolve();
  }

  reserve(counters: readonly Counter[], claims: readonly RequestedClaim[]): ReserveOutcome | Promise<ReserveOutcome> {
    const reserve = (): ReserveOutcome => this.#store.reserve(counters, claims);
    return this.beforeReserve()?.then(reserve) ?? reserve();
  }

  settle(counters: readonly Counter[], leasedClaims: LeasedClaims): Promise<readonly number[]> {
    return this.beforeSettle().then(() => this.#store.settle(counters, leasedClaims));
  }
}
