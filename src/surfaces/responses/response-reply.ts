import { isJsonObject, toObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { answerBound, FoldLimit } from '#contract/chat/fold-frames.ts';
import { endEvent, type Frame, listEventObjects, requireForm } from '#contract/chat/frame.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { ResponseEvent } from '#contract/responses/events.ts';
import type { ReplySink } from '#domain/calls/call.ts';
import type { EventHead } from '../http/replies/event-stream.ts';
import { ignoredHeader, toIgnoredNames } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { type EventWriter, StreamedReply } from '../http/replies/streamed-reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { ListIgnoredFields } from './create-run.ts';
import { type ResponseRun, toErrorEvent, toResponseError } from './response-run.ts';
import { toResponsesField } from './translation/to-chat-request.ts';

/** Sends a response as one JSON document, assembled from its events. */
export class JsonResponse implements ReplySink {
  readonly #context: RequestContext;
  readonly #run: ResponseRun;
  readonly #ignored: ListIgnoredFields;
  #isRelayed = false;
  readonly #budget = new FoldLimit(answerBound);
  /** Bytes of a reply that is forwarded unchanged. */
  #forwarded: string | undefined;
  readonly #text: EarlyText;
  #hasEnded = false;

  constructor(context: RequestContext, run: ResponseRun, ignored: ListIgnoredFields) {
    this.#context = context;
    this.#run = run;
    this.#ignored = ignored;
    this.#text = new EarlyText(run, () => toLatin1(JSON.stringify(run.response)));
  }

  /** Throws `upstream_failed` if the reply is too large. */
  push(frame: Frame): void {
    this.#budget.consume(frame);
    if (frame.native !== undefined) {
      requireForm(frame.native, 'complete');
      this.#isRelayed = true;
    }
    if (this.#run.canForward(frame)) this.#forwarded = frame.bytes;
    else this.#run.consume(frame);
  }

  end(): void {
    if (this.#forwarded === undefined) {
      this.#run.end();
      if (this.#run.settling !== undefined) this.#text.prepare();
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

  /** Sends the response after it is stored, so that the client can read or continue it immediately. */
  #whenSettled(send: () => void): void {
    const { settling } = this.#run;
    if (settling === undefined) send();
    else void settling.then(send);
  }

  #send(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const context = this.#context;
    const bytes = this.#forwarded ?? this.#text.get();
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
  prepare(): void {
    setImmediate(() => {
      try {
        this.#result = { text: this.#toText(), store: this.#run.response.store };
      } catch {
        // `get` throws the same error to its caller. Here, the error would end the process.
      }
    });
  }

  /** Returns the text. Creates it again if it could not be created, or if storing failed, which changes `store`. */
  get(): string {
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
  #forwarded: { readonly first: string; last: string } | undefined;
  #hasBegun = false;
  /** Final events of the response. */
  #finalEvents: readonly ResponseEvent[] = [];
  readonly #finalText: EarlyText;

  constructor(context: RequestContext, run: ResponseRun, ignored: ListIgnoredFields) {
    this.#context = context;
    this.#run = run;
    this.#ignored = ignored;
    this.#finalText = new EarlyText(run, () => toBytes(this.#finalEvents));
  }

  begin(context: RequestContext, first: Frame): EventHead {
    if (first.native !== undefined) requireForm(first.native, 'streamed');
    this.#hasBegun = true;
    return { headers: buildHeaders(context, this.#ignored(first.native !== undefined)) };
  }

  beginEarly(context: RequestContext): { head: EventHead; bytes: string } {
    this.#hasBegun = true;
    return { head: { headers: buildHeaders(context, this.#ignored()) }, bytes: toBytes(this.#run.begin()) };
  }

  /** Throws `upstream_failed` if the reply is not a stream. */
  toBytes(frame: Frame): string {
    if (frame.native?.isCompleteReply === true) requireForm(frame.native, 'streamed');
    if (!this.#run.canForward(frame)) return this.#run.consumeText(frame) ?? toBytes(this.#run.consume(frame));
    const { bytes } = frame;
    if (this.#forwarded === undefined) this.#forwarded = { first: bytes, last: bytes };
    else this.#forwarded.last = bytes;
    return bytes;
  }

  /** Delays the final events until the response can be read and its conversation can be continued. */
  settle(error?: ParleyError): Promise<void> | undefined {
    const run = this.#run;
    if (this.#forwarded !== undefined) run.abandon();
    else if (error === undefined) this.#finalEvents = run.end();
    else if (this.#hasBegun && !this.#context.isDisconnected) this.#finalEvents = [...this.#finalEvents, ...run.fail(error)];
    else run.cancel();
    if (error === undefined && run.settling !== undefined) this.#finalText.prepare();
    return run.settling;
  }

  end(): string {
    return this.#forwarded === undefined ? this.#finalText.get() + endEvent : '';
  }

  toErrorEvent(error: ParleyError): string {
    return toBytes(this.#forwarded === undefined ? this.#finalEvents : buildFailureEvents(this.#forwarded, error)) + endEvent;
  }
}

/** Returns a sink that sends a response as events and cancels the run if the client disconnects. */
export function createStreamedReply(context: RequestContext, run: ResponseRun, ignored: ListIgnoredFields): StreamedReply {
  return new StreamedReply(context, new ResponseWriter(context, run, ignored));
}

/** Returns the events as latin1 bytes of an event stream. */
export function toBytes(events: readonly (object & { readonly type?: unknown })[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${toLatin1(JSON.stringify(event))}\n\n`).join('');
}

/** Returns the headers of a response, including the names of omitted request fields. */
export function buildHeaders(context: RequestContext, ignored: readonly string[]): Record<string, string> {
  const { headers } = context;
  const allIgnored = [...new Set([...ignored, ...[...context.ignored].map(toResponsesField)])];
  if (allIgnored.length > 0) headers[ignoredHeader] = toIgnoredNames(allIgnored);
  return headers;
}

/**
 * Returns the final events of a forwarded stream that ended early. They contain the upstream's response and continue its
 * sequence numbers.
 */
function buildFailureEvents({ first, last }: { first: string; last: string }, error: ParleyError): ResponseEvent[] {
  const response = listEventObjects(first).find((event) => isJsonObject(event.response))?.response;
  const number = listEventObjects(last).at(-1)?.sequence_number;
  const next = typeof number === 'number' ? number + 1 : 0;
  const failed = { ...toObject(response), status: 'failed', error: toResponseError(error) };
  return [
    { ...toErrorEvent(error), sequence_number: next } as ResponseEvent,
    { type: 'response.failed', sequence_number: next + 1, response: failed } as unknown as ResponseEvent,
  ];
}
