export interface RecordQueueOptions {
  /** What they are called, in the plural. */
  readonly what: string;
  readonly noteFault: (message: string, thrown: unknown) => void;
  readonly note: (message: string) => void;
  readonly waitMs: number;
  readonly maxWaiting: number;
}

const mostInBatch = 1000;

/** Records of one kind on their way into a store that may be away. */
export class RecordQueue<Item> {
  readonly #append: (records: readonly Item[]) => Promise<void>;
  readonly #options: RecordQueueOptions;
  #waiting: Item[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** Of the outage that is now. */
  #lost = 0;
  #isOut = false;

  constructor(append: (records: readonly Item[]) => Promise<void>, options: RecordQueueOptions) {
    this.#append = append;
    this.#options = options;
  }

  /** What the current outage has lost, in words; undefined if nothing. */
  get loss(): string | undefined {
    return this.#lost === 0
      ? undefined
      : `${this.#lost} ${this.#options.what} are lost: the store takes none, and no more can wait`;
  }

  add(record: Item): void {
    const { maxWaiting } = this.#options;
    if (this.#waiting.length >= maxWaiting) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(record);
    if (this.#timer === undefined) this.#writeLater();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#write();
    clearTimeout(this.#timer);
  }

  #writeLater(): void {
    this.#timer = setTimeout(() => void this.#write(), this.#options.waitMs).unref();
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      this.#timer = undefined;
      if (this.#waiting.length > 0) this.#writeLater();
    });
    return this.#writing;
  }

  /**
   * Writes what waits now; what comes meanwhile waits for the next time, otherwise each write would
   * be tiny. A batch that cannot be written waits as well; to write it twice does no harm.
   */
  async #writeAll(): Promise<void> {
    try {
      for (let left = this.#waiting.length; left > 0; ) {
        const batch = this.#waiting.slice(0, Math.min(left, mostInBatch));
        await this.#append(batch);
        this.#waiting = this.#waiting.slice(batch.length);
        left -= batch.length;
        this.#noteWritten();
      }
    } catch (thrown) {
      this.#noteOutage(thrown);
    }
  }

  #noteWritten(): void {
    const { note, what } = this.#options;
    if (this.#isOut) note(`${what} are written again; ${this.#lost} were lost`);
    this.#isOut = false;
    this.#lost = 0;
  }

  /** Reported once per outage. */
  #noteOutage(thrown: unknown): void {
    const { maxWaiting, noteFault, what } = this.#options;
    if (!this.#isOut) noteFault(`${what} cannot be written; up to ${maxWaiting} wait for the store`, thrown);
    this.#isOut = true;
  }
}
