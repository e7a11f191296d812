import { useSyncExternalStore } from 'react';
import { isGatewayError } from './service-error.ts';

const recheckAfterMs = 5_000;

/**
 * Observes whether the service can be reached. A failed request only triggers a check, because one blocked request does not mean
 * that the service is unreachable. While there are listeners, the check repeats until the service responds.
 */
export class Reachability {
  readonly #listeners = new Set<() => void>();
  #isUnreachable = false;
  #isProbing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.#listeners.size === 0) {
      addEventListener('online', this.check);
      addEventListener('offline', this.check);
    }
    this.#listeners.add(listener);
    if (this.#isUnreachable) this.check();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      removeEventListener('online', this.check);
      removeEventListener('offline', this.check);
    };
  };

  readonly isUnreachable = (): boolean => this.#isUnreachable;

  /** Checks whether the service can be reached, and notifies the listeners if this has changed. */
  readonly check = (): void => {
    clearTimeout(this.#timer);
    if (!this.#isProbing) void this.#probe();
  };

  /** Marks the service as unreachable without a check. */
  reportUnreachable(): void {
    this.#isUnreachable = true;
  }

  async #probe(): Promise<void> {
    this.#isProbing = true;
    const isUnreachable = await fetch('v1/sign-in', { cache: 'no-store', credentials: 'omit', redirect: 'error' }).then(
      ({ status }) => isGatewayError(status),
      () => true,
    );
    this.#isProbing = false;
    if (isUnreachable && this.#listeners.size > 0) this.#timer = setTimeout(this.check, recheckAfterMs);
    if (isUnreachable === this.#isUnreachable) return;
    this.#isUnreachable = isUnreachable;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns whether the service is currently unreachable. */
export function useIsUnreachable({ subscribe, isUnreachable }: Reachability): boolean {
  return useSyncExternalStore(subscribe, isUnreachable);
}
