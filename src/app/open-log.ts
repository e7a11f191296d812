import { pino } from 'pino';
import type { Secret } from '#base/secret.ts';
import { LineBuffer } from './line-buffer.ts';
import { createLog, type Log, type LogLevel } from './log.ts';

const stdout = 1;
/** What may wait for a reader of stdout that stands still; further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;

export interface OpenLog {
  readonly log: Log;
  /** Where the lines of calls go too, so that they stand in order. */
  readonly lines: LineBuffer;
}

/** The log of the process on its stdout; what is gathered is written when the process exits. */
export function openLog(level: LogLevel, secrets: () => Iterable<Secret>): OpenLog {
  const lines = new LineBuffer(pino.destination({ dest: stdout, sync: false, maxLength: maxWaitingBytes }));
  process.on('exit', () => lines.flush());
  return { log: createLog({ level, sink: lines, secrets }), lines };
}
