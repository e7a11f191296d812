import { pino } from 'pino';
import type { Secret } from '#base/secrets/secret.ts';
import { createLog, type Log, type LogLevel } from './log.ts';

const stdout = 1;
/** Bytes that may wait for a stalled reader of stdout; further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;

export interface OpenLog {
  readonly log: Log;
  /** Where the lines of calls go too, so that they stand in order. */
  readonly lines: LineBuffer;
}

/** The log of the process on its stdout; `lines.close` writes what is gathered; what a sudden exit leaves is written then. */
export function openLog(level: LogLevel, secrets: () => Iterable<Secret>): OpenLog {
  const destination = pino.destination({ dest: stdout, sync: false, minLength: 1, maxLength: maxWaitingBytes });
  const lines = new LineBuffer(destination);
  const flush = (): void => lines.flush();
  process.on('exit', flush);
  // Once the reader of stdout is gone, the node goes on without a log.
  destination.on('error', () => process.off('exit', flush));
  return { log: createLog({ level, sink: lines, secrets }), lines };
}

/** Where a log's text goes, such as a SonicBoom of pino. */
interface TextStream {
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
