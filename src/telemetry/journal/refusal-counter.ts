/** Sums up refused credentials, so that someone who tries many keys cannot fill the audit log: one record for each reason and period. */
export class RefusalCounter {
  readonly #note: (code: string, count: number) => void;
  readonly #periodMs: number;
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `note` is called at the end of each period with refusals. */
  constructor(note: (code: string, count: number) => void, periodMs = 10_000) {
    this.#note = note;
    this.#periodMs = periodMs;
  }

  add(code: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    this.#timer ??= setTimeout(() => this.flush(), this.#periodMs).unref();
  }

  /** Notes what was counted until now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [code, count] of this.#counts) this.#note(code, count);
    this.#counts.clear();
  }
}
