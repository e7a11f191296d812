import { pino } from 'pino';
import type { BoundedCache, BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { Secret } from '#base/secrets/secret.ts';
import { letterIdPattern } from '#base/text/letter-id.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CallEnd } from '#domain/calls/telemetry.ts';
import { createLog, type Log, type LogLevel } from './log.ts';
import type { CallListener, MeasuredCall } from './measured-call.ts';

const stdout = 1;
/** Bytes that may wait for a stalled reader of stdout. Further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** Text that needs no escapes in JSON. */
const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Bounds of the cache of log texts about callers. */
export const callerTextBounds: BoundedCacheOptions<CallerText> = {
  maxBytes: 4 * 1024 ** 2,
  countBytes: ({ project, text }) => project.length + text.length,
};

interface OpenLog {
  readonly log: Log;
  /** The sink for the lines of calls, which keeps them in order with the other lines. */
  readonly lines: LineBuffer;
}

/**
 * Opens the log of the process on its stdout. `lines.close` writes the buffered lines. They are also written on a sudden exit.
 */
export function openLog(level: LogLevel, secrets: () => Iterable<Secret>): OpenLog {
  const destination = pino.destination({ dest: stdout, sync: false, minLength: 1, maxLength: maxWaitingBytes });
  const lines = new LineBuffer(destination);
  const flush = (): void => lines.flush();
  process.on('exit', flush);
  // If the reader of stdout has closed it, the node continues without a log.
  destination.on('error', () => process.off('exit', flush));
  return { log: createLog({ level, sink: lines, secrets }), lines };
}

/** Output stream of a log, such as a SonicBoom of pino. */
interface TextStream {
  write(text: string): unknown;
  /** Calls `done` after everything is written or after writing failed. */
  flush(done: (error?: unknown) => void): void;
  flushSync(): void;
}

const maxWaitMs = 100;
/** Number of buffered characters that are written without further delay. */
const maxBufferedChars = 64 * 1024;

/**
 * Buffers lines for up to 100 ms, so that a busy node writes its log a few times a second instead of once for each call. Use
 * `close` for an orderly stop and `flush` for a sudden exit.
 */
export class LineBuffer {
  readonly #stream: TextStream;
  #pending = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: TextStream) {
    this.#stream = stream;
  }

  /** Buffers a complete line, including its line end. */
  write(line: string): void {
    this.#pending += line;
    if (this.#pending.length >= maxBufferedChars) this.#send();
    else if (this.#timer === undefined) this.#timer = setTimeout(() => this.#send(), maxWaitMs).unref();
  }

  /** Writes complete lines without further delay. */
  writeNow(lines: string): void {
    this.#pending += lines;
    this.#send();
  }

  /** Resolves after everything is written or after writing failed. */
  close(): Promise<void> {
    this.#send();
    return new Promise((resolve) => this.#stream.flush(() => resolve()));
  }

  /** Writes all buffered lines before it returns. Lines of a write already in progress may come after them. */
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

export interface LineSink {
  /** Writes a complete line, including its line end. */
  write(line: string): void;
}

/** Texts about a caller in log lines. */
interface CallerText {
  readonly project: string;
  readonly text: string;
}

interface CallLogOptions {
  readonly sink: LineSink;
  /** Cache by subject. */
  readonly callers: BoundedCache<CallerText>;
  readonly epochMs: () => number;
  /** Returns a short keyed digest of a user subject, which distinguishes users and does not name them. */
  readonly toPseudonym: (subject: string) => string;
  /** Removes secrets from text that the client chose. */
  readonly redact: (text: string) => string;
}

/**
 * Writes one line of JSON for each call, with a pseudonym of the user, the deployment, and the duration. The line contains no
 * content, no keys, and no header fields except the request ID.
 */
export class CallLog implements CallListener {
  readonly #options: CallLogOptions;
  /** Log texts by caller object, which avoids a search by subject. */
  readonly #texts = new WeakMap<Caller, string>();

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  callEnded(call: MeasuredCall, end: CallEnd): void {
    const { start, lastAttempt, firstByteMs, caller } = call;
    const { redact } = this.#options;
    const requestId = letterIdPattern.test(start.requestId) ? start.requestId : redact(start.requestId);
    const isUnknown = end.error?.code === 'deployment_not_found' && call.deploymentId !== undefined;
    const deployment = isUnknown ? redact(call.deploymentId ?? '') : call.deploymentId;
    this.#options.sink.write(
      `{"level":"info","time":${this.#options.epochMs()},"msg":"call","request_id":${toJson(requestId)},"trace_id":"${call.span.traceId}"` +
        `,"operation":"${start.operation}","route":${toJson(start.route)}${caller === undefined ? '' : (this.#texts.get(caller) ?? this.#callerText(caller))}` +
        `,"deployment":${toJson(deployment)},"upstream":${toJson(lastAttempt?.upstreamId)},"tries":${call.attemptCount}` +
        `,"status":${end.status},"code":${toJson(end.error?.code)},"outcome":"${end.outcome}","stream":${firstByteMs !== undefined}` +
        `,"ms":${toTenths(end.atMs - start.atMs)},"first_byte_ms":${firstByteMs === undefined ? 'null' : toTenths(firstByteMs - start.atMs)}` +
        `,"prompt_tokens":${end.promptTokens},"completion_tokens":${end.completionTokens}}\n`,
    );
  }

  #callerText(caller: Caller): string {
    const { callers, toPseudonym } = this.#options;
    const cached = callers.find(caller.subject);
    const isSame = cached !== undefined && cached.project === caller.project;
    const text = isSame ? cached.text : `,"project":${toJson(caller.project)},"user":"${toPseudonym(caller.subject)}"`;
    if (!isSame) callers.set(caller.subject, { project: caller.project, text });
    this.#texts.set(caller, text);
    return text;
  }
}

/** Returns the text as JSON. */
function toJson(text: string | undefined): string {
  if (text === undefined) return 'null';
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Returns the number with one decimal, as JSON. */
function toTenths(ms: number): string {
  const tenths = Math.max(0, Math.round(ms * 10));
  return `${Math.floor(tenths / 10)}.${tenths % 10}`;
}

/** Returns a listener that logs failed calls, with the causes that the client does not see. */
export function createFailureLog(log: Log): CallListener['callEnded'] {
  return ({ start, span, deploymentId, lastAttempt }, { error, status }) =>
    log.error('a call failed', error, {
      request_id: start.requestId,
      trace_id: span.traceId,
      deployment: deploymentId ?? null,
      upstream: lastAttempt?.upstreamId ?? null,
      status,
    });
}
