/** Where a log's text goes, such as a SonicBoom of pino. */
export interface TextStream {
  write(text: string): unknown;
  /** Calls back once everything is written, or writing failed. */
  flush(done: (fault?: unknown) => void): void;
  flushSync(): void;
}

const longestWaitMs = 100;
const fullLength = 64 * 1024;

/**
 * Gathers lines for up to 100 ms, so that a busy node writes its log a few times a second instead of once a call.
 * `close` is for an orderly stop, `flush` for a sudden end.
 */
export class LineBuffer {
  readonly #stream: TextStream;
  #pending = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: TextStream) {
    this.#stream = stream;
  }

  /** Takes a whole line with its line end. */
  write(line: string): void {
    this.#pending += line;
    if (this.#pending.length >= fullLength) this.#send();
    else if (this.#timer === undefined) this.#timer = setTimeout(() => this.#send(), longestWaitMs).unref();
  }

  /** Resolves when everything is written, or writing failed. */
  close(): Promise<void> {
    this.#send();
    return new Promise((resolve) => this.#stream.flush(() => resolve()));
  }

  /** Everything is written when this returns; what is on its way at that moment may come behind it. */
  flush(): void {
    this.#send();
    this.#stream.flushSync();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    this.#stream.write(text);
  }
}
