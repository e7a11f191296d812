import { isGatewayError } from './is-gateway-error.ts';

const recheckAfterMs = 5_000;

/**
 * Whether the service can be reached. A request that found nobody is a doubt, which another one settles: what stops a single
 * request does not make the page offline. While somebody watches, it is asked again until it answers.
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

  /** Looks whether it can be reached. */
  readonly check = (): void => {
    clearTimeout(this.#timer);
    if (!this.#isProbing) void this.#probe();
  };

  /** It is known to be out of reach. */
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
