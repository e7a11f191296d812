import { useSyncExternalStore } from 'react';
import { isGatewayError } from './service-error.ts';

const recheckAfterMs = 5_000;

/**
 * Whether the service can be reached. A failed request is only a hint, which another request confirms, because a single blocked
 * request does not make the page offline. While there are listeners, the check repeats until the service responds.
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

  /** Checks whether the service can be reached. */
  readonly check = (): void => {
    clearTimeout(this.#timer);
    if (!this.#isProbing) void this.#probe();
  };

  /** Reports that the service is known to be unreachable. */
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

/** Whether the service is currently unreachable. */
export function useIsUnreachable({ subscribe, isUnreachable }: Reachability): boolean {
  return useSyncExternalStore(subscribe, isUnreachable);
}
