import type { BoundedCache, BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import { letterId } from '#base/text/letter-id.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CallEnd } from '#domain/telemetry.ts';
import type { Log } from './log.ts';
import type { CallListener, MeasuredCall } from './measured-call.ts';

/** JSON text of these needs no escapes. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Where lines of the log go. */
export interface LineSink {
  /** A whole line with its line end. */
  write(line: string): void;
}

/** What lines say of a caller. */
export interface CallerText {
  readonly project: string;
  readonly text: string;
}

/** The cache that texts of callers lie in. */
export const callerTextBounds: BoundedCacheOptions<CallerText> = {
  maxBytes: 4 * 1024 ** 2,
  bytesOf: ({ project, text }) => project.length + text.length,
};

export interface CallLogOptions {
  readonly sink: LineSink;
  /** By subject. */
  readonly callers: BoundedCache<CallerText>;
  readonly epochMs: () => number;
  /** A short keyed digest of a user subject: tells users apart and names none. */
  readonly toPseudonym: (subject: string) => string;
  /** Takes secrets out of what a caller made up. */
  readonly redact: (text: string) => string;
}

/** Writes one line of JSON for each call: who, what, how long; never content, keys or header fields. */
export class CallLog implements CallListener {
  readonly #options: CallLogOptions;
  /** By caller, as long as that lives. */
  readonly #texts = new WeakMap<Caller, string>();

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  callEnded(call: MeasuredCall, end: CallEnd): void {
    const { start, lastAttempt, firstByteMs, caller } = call;
    const { redact } = this.#options;
    const requestId = letterId.test(start.requestId) ? start.requestId : redact(start.requestId);
    const isUnknown = end.error?.code === 'deployment_not_found' && call.deploymentId !== undefined;
    const deployment = isUnknown ? redact(call.deploymentId ?? '') : call.deploymentId;
    this.#options.sink.write(
      `{"level":"info","time":${this.#options.epochMs()},"msg":"call","request_id":${quote(requestId)},"trace_id":"${call.place.traceId}"` +
        `,"operation":"${start.operation}","route":${quote(start.route)}${caller === undefined ? '' : (this.#texts.get(caller) ?? this.#callerText(caller))}` +
        `,"deployment":${quote(deployment)},"upstream":${quote(lastAttempt?.upstreamId)},"tries":${call.attemptCount}` +
        `,"status":${end.status},"code":${quote(end.error?.code)},"outcome":"${end.outcome}","stream":${firstByteMs !== undefined}` +
        `,"ms":${toTenths(end.atMs - start.atMs)},"first_byte_ms":${firstByteMs === undefined ? 'null' : toTenths(firstByteMs - start.atMs)}` +
        `,"prompt_tokens":${end.promptTokens},"completion_tokens":${end.completionTokens}}\n`,
    );
  }

  #callerText(caller: Caller): string {
    const { callers, toPseudonym } = this.#options;
    const known = callers.find(caller.subject);
    const isSame = known !== undefined && known.project === caller.project;
    const text = isSame ? known.text : `,"project":${quote(caller.project)},"user":"${toPseudonym(caller.subject)}"`;
    if (!isSame) callers.set(caller.subject, { project: caller.project, text });
    this.#texts.set(caller, text);
    return text;
  }
}

/** The text as JSON. */
function quote(text: string | undefined): string {
  if (text === undefined) return 'null';
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A number with one decimal, as JSON. */
function toTenths(ms: number): string {
  const tenths = Math.max(0, Math.round(ms * 10));
  return `${Math.floor(tenths / 10)}.${tenths % 10}`;
}

/** Writes why a call failed: the causes that its caller is not told. */
export function toFailureLog(log: Log): CallListener['callEnded'] {
  return ({ start, place, deploymentId, lastAttempt }, { error, status }) =>
    log.error('a call failed', error, {
      request_id: start.requestId,
      trace_id: place.traceId,
      deployment: deploymentId ?? null,
      upstream: lastAttempt?.upstreamId ?? null,
      status,
    });
}
