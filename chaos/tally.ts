const maxPrinted = 5;
const maxStored = 40;
const maxFaultChars = 1_800;

/** Counts, maxima, and faults of a scenario. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #peaks = new Map<string, number>();
  readonly #faults: string[] = [];
  readonly #note: (text: string) => void;
  #faultCount = 0;
  /** Maximum time that an event loop may be blocked without a fault. */
  readonly mayBlockMs: number;

  /** `note` receives the first faults immediately. */
  constructor(note: (text: string) => void, mayBlockMs: number) {
    this.#note = note;
    this.mayBlockMs = mayBlockMs;
  }

  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  /** Records the maximum of the values. */
  peak(name: string, value: number): void {
    this.#peaks.set(name, Math.max(value, this.#peaks.get(name) ?? Number.NEGATIVE_INFINITY));
  }

  addFault(text: string): void {
    this.#faultCount += 1;
    if (this.#faultCount <= maxPrinted) this.#note(`FAULT ${text.slice(0, 300)}`);
    if (this.#faults.length < maxStored) this.#faults.push(text.slice(0, maxFaultChars));
  }

  /** Records a fault unless `holds`. */
  require(holds: boolean, text: () => string): void {
    if (!holds) this.addFault(text());
  }

  get faultCount(): number {
    return this.#faultCount;
  }

  /** The first faults. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Counts and maxima by name. */
  get figures(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts, ...this.#peaks]);
  }
}
