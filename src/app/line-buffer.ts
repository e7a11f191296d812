/** What carries a log's text away, such as a SonicBoom of pino. */
export interface TextStream {
  write(text: string): unknown;
  flushSync(): void;
}

const longestWaitMs = 100;
const fullLength = 16 * 1024;

/**
 * Gathers lines for up to 100 ms, so that a busy node writes its log a few times a second instead of once a call.
 * `flush` is for the end of the process.
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

  /** Everything is written when this returns. */
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
