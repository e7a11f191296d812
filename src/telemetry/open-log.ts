import { pino } from 'pino';
import type { Secret } from '#base/secret.ts';
import { LineBuffer } from './line-buffer.ts';
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
