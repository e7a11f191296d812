import { isFromBetween } from './is-from-between.ts';

const againAfterMs = 5_000;

/**
 * Whether the service can be reached. A request that found nobody is a doubt, which another one settles: what stops a single
 * request does not make the page offline. While somebody watches, it is asked again until it answers.
 */
export class Reachability {
  readonly #views = new Set<() => void>();
  #isAway = false;
  #isLooking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = (view: () => void): (() => void) => {
    if (this.#views.size === 0) {
      addEventListener('online', this.doubt);
      addEventListener('offline', this.doubt);
    }
    this.#views.add(view);
    if (this.#isAway) this.doubt();
    return () => {
      this.#views.delete(view);
      if (this.#views.size > 0) return;
      clearTimeout(this.#timer);
      removeEventListener('online', this.doubt);
      removeEventListener('offline', this.doubt);
    };
  };

  readonly isAway = (): boolean => this.#isAway;

  /** Looks whether it can be reached. */
  readonly doubt = (): void => {
    clearTimeout(this.#timer);
    if (!this.#isLooking) void this.#look();
  };

  /** It is known to be out of reach. */
  noteAway(): void {
    this.#isAway = true;
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const isAway = await fetch('v1/sign-in', { cache: 'no-store', credentials: 'omit', redirect: 'error' }).then(
      ({ status }) => isFromBetween(status),
      () => true,
    );
    this.#isLooking = false;
    if (isAway && this.#views.size > 0) this.#timer = setTimeout(this.doubt, againAfterMs);
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    for (const view of this.#views) view();
  }
}
