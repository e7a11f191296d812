export const dayMs = 86_400_000;

/** Source of time that tests can replace. */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions and an arbitrary start. */
  nowMs(): number;
  /** Milliseconds since the epoch. */
  epochMs(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason if it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal.addEventListener('abort', stop, { once: true });
    }),
};
