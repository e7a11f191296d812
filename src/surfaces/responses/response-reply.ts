import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import { answerBound, FoldLimit } from '#contract/chat/fold-frames.ts';
import { endEvent, type Frame, requireForm } from '#contract/chat/frame.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { ResponseEvent } from '#contract/responses/events.ts';
import type { ReplySink } from '#domain/call.ts';
import type { EventHead } from '../http/replies/event-stream.ts';
import { ignoredHeader, toIgnoredNames } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { type EventWriter, StreamedReply } from '../http/replies/streamed-reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { ListIgnoredFields } from './create-run.ts';
import type { ResponseRun } from './response-run.ts';
import { toOwnName } from './translation/to-chat-request.ts';
import { toErrorEvent, toResponseError } from './translation/to-error-events.ts';

/** Sends a response as one JSON document, assembled from its events. */
export class JsonResponse implements ReplySink {
  readonly #context: RequestContext;
  readonly #run: ResponseRun;
  readonly #ignored: ListIgnoredFields;
  #isRelayed = false;
  readonly #budget = new FoldLimit(answerBound);
  #relayed: string | undefined;
  readonly #text: EarlyText;
  #hasEnded = false;

  constructor(context: RequestContext, run: ResponseRun, ignored: ListIgnoredFields) {
    this.#context = context;
    this.#run = run;
    this.#ignored = ignored;
    this.#text = new EarlyText(run, () => toLatin1(JSON.stringify(run.response)));
  }

  /** Throws `upstream_failed` if the reply is too large. */
  frame(frame: Frame): void {
    this.#budget.consume(frame);
    if (frame.native !== undefined) {
      requireForm(frame.native, 'whole');
      this.#isRelayed = true;
    }
    if (this.#run.canForward(frame)) this.#relayed = frame.bytes;
    else this.#run.take(frame);
  }

  end(): void {
    if (this.#relayed === undefined) {
      this.#run.end();
      if (this.#run.settling !== undefined) this.#text.make();
    } else this.#run.abandon();
    this.#whenSettled(() => this.#send());
  }

  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#run.abandon();
    this.#whenSettled(() => {
      this.#context.sendError(error);
    });
  }

  /** The response is sent after it is stored, so that the client can read or continue it immediately. */
  #whenSettled(answer: () => void): void {
    const { settling } = this.#run;
    if (settling === undefined) answer();
    else void settling.then(answer);
  }

  #send(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const context = this.#context;
    const bytes = this.#relayed ?? this.#text.consume();
    sendJson(context.response, 200, bytes, buildHeaders(context, this.#ignored(this.#isRelayed)));
  }
}

/** JSON text of a finished response. It is created while the response is being stored. */
export class EarlyText {
  readonly #run: Pick<ResponseRun, 'response'>;
  readonly #toText: () => string;
  #result: { readonly text: string; readonly store: boolean } | undefined;

  constructor(run: Pick<ResponseRun, 'response'>, toText: () => string) {
    this.#run = run;
    this.#toText = toText;
  }

  /** Creates the text. Call it after the store request has been sent. */
  make(): void {
    setImmediate(() => {
      try {
        this.#result = { text: this.#toText(), store: this.#run.response.store };
      } catch {
        // `consume` throws the same error to its caller. Here, it would end the process.
      }
    });
  }

  /** Creates the text again if storing failed, because `store` has changed, or if it could not be created. */
  consume(): string {
    const result = this.#result;
    return result !== undefined && result.store === this.#run.response.store ? result.text : this.#toText();
  }
}

/**
 * Writes a response as events. Events of an upstream of the Responses API are forwarded unchanged if Parley does not modify
 * them.
 */
class ResponseWriter implements EventWriter {
  readonly #context: RequestContext;
  readonly #run: ResponseRun;
  readonly #ignored: ListIgnoredFields;
  /** First and last bytes that were forwarded unchanged. */
  #relayed: { readonly first: string; last: string } | undefined;
  #isReported = false;
  /** Final events of the response. */
  #last: readonly ResponseEvent[] = [];
  readonly #lastText: EarlyText;

  constructor(context: RequestContext, run: ResponseRun, ignored: ListIgnoredFields) {
    this.#context = context;
    this.#run = run;
    this.#ignored = ignored;
    this.#lastText = new EarlyText(run, () => toBytes(this.#last));
  }

  begin(context: RequestContext, first: Frame): EventHead {
    if (first.native !== undefined) requireForm(first.native, 'streamed');
    this.#isReported = true;
    return { headers: buildHeaders(context, this.#ignored(first.native !== undefined)) };
  }

  beginEarly(context: RequestContext): { head: EventHead; bytes: string } {
    this.#isReported = true;
    return { head: { headers: buildHeaders(context, this.#ignored()) }, bytes: toBytes(this.#run.begin()) };
  }

  /** Throws `upstream_failed` if the reply is not a stream. */
  toBytes(frame: Frame): string {
    if (frame.native?.isWhole === true) requireForm(frame.native, 'streamed');
    if (!this.#run.canForward(frame)) return this.#run.takeText(frame) ?? toBytes(this.#run.take(frame));
    const { bytes } = frame;
    if (this.#relayed === undefined) this.#relayed = { first: bytes, last: bytes };
    else this.#relayed.last = bytes;
    return bytes;
  }

  /** Delays the final events until the response can be read and its conversation can be continued. */
  settle(error?: ParleyError): Promise<void> | undefined {
    const run = this.#run;
    if (this.#relayed !== undefined) run.abandon();
    else if (error === undefined) this.#last = run.end();
    else if (this.#isReported && !this.#context.isDisconnected) this.#last = [...this.#last, ...run.fail(error)];
    else run.cancel();
    if (error === undefined && run.settling !== undefined) this.#lastText.make();
    return run.settling;
  }

  end(): string {
    return this.#relayed === undefined ? this.#lastText.consume() + endEvent : '';
  }

  toErrorEvent(error: ParleyError): string {
    return toBytes(this.#relayed === undefined ? this.#last : buildFailureEvents(this.#relayed, error)) + endEvent;
  }
}

/** Returns a sink that sends a response as events and cancels the run if the client disconnects. */
export function streamed(context: RequestContext, run: ResponseRun, ignored: ListIgnoredFields): StreamedReply {
  return new StreamedReply(context, new ResponseWriter(context, run, ignored));
}

/** Returns events as latin1 bytes. */
export function toBytes(events: readonly (object & { readonly type?: unknown })[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${toLatin1(JSON.stringify(event))}\n\n`).join('');
}

/** Returns the headers of a response, including the names of omitted request fields. */
export function buildHeaders(context: RequestContext, ignored: readonly string[]): Record<string, string> {
  const { headers } = context;
  const all = [...new Set([...ignored, ...[...context.ignored].map(toOwnName)])];
  if (all.length > 0) headers[ignoredHeader] = toIgnoredNames(all);
  return headers;
}

/**
 * Returns the final events of a forwarded stream that ended early. They contain the upstream's response and continue its
 * sequence numbers.
 */
function buildFailureEvents({ first, last }: { first: string; last: string }, error: ParleyError): ResponseEvent[] {
  const opening = parseValues(first).find(({ response }) => isJsonObject(response))?.response;
  const number = parseValues(last).at(-1)?.sequence_number;
  const next = typeof number === 'number' ? number + 1 : 0;
  const failed = { ...(isJsonObject(opening) ? opening : {}), status: 'failed', error: toResponseError(error) };
  return [
    { ...toErrorEvent(error), sequence_number: next } as ResponseEvent,
    { type: 'response.failed', sequence_number: next + 1, response: failed } as unknown as ResponseEvent,
  ];
}

function parseValues(events: string) {
  return listEventData(events)
    .map((data) => tryParseJson(fromLatin1(data)))
    .filter(isJsonObject);
}
