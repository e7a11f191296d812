import type { Sink } from '#base/sink.ts';
import { toEvent } from '#contract/frame.ts';
import type { PassedFrame } from '#domain/upstreams/upstream.ts';
import { EventStream, endResponse, whenDrained } from '../http/event-stream.ts';
import { privateFields } from '../http/private-answer.ts';
import type { RequestContext } from '../http/request-context.ts';
import { sendJson } from '../http/send-json.ts';

/** Sends an answer that is passed through, as it came and no faster than it is read. A failure ahead of its first piece has its own status. */
export class PassedReply implements Sink<PassedFrame> {
  readonly #context: RequestContext;
  #kind: PassedFrame['kind'] | undefined;
  #events: EventStream | undefined;
  /** An answer in JSON, which is sent once it has ended well. */
  #json = '';
  #isOver = false;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  frame(frame: PassedFrame): void {
    const { record, clock } = this.#context;
    if (frame.kind === 'json') {
      this.#kind = 'json';
      this.#json = frame.bytes;
      return;
    }
    if (this.#kind === undefined) {
      this.#begin(frame);
      record.firstByte(clock.nowMs());
    } else record.chunk(clock.nowMs());
    const keepsUp = this.#events?.send(frame.bytes) ?? this.#context.response.write(frame.bytes, 'latin1');
    if (!keepsUp) this.#context.pauseUntil(() => this.#events?.drained() ?? whenDrained(this.#context.response));
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { response } = this.#context;
    if (this.#kind === 'json') sendJson(response, 200, this.#json, this.#context.replyHeaders);
    else if (this.#events !== undefined) this.#events.end();
    else endResponse(response, '');
  }

  fail(thrown: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#kind === undefined || this.#kind === 'json') this.#context.sendError(thrown);
    else this.#breakOff(thrown);
  }

  #begin({ kind, contentType }: PassedFrame): void {
    const { response, replyHeaders } = this.#context;
    this.#kind = kind;
    if (kind === 'events') {
      this.#events = new EventStream(response, { headers: replyHeaders });
    } else response.writeHead(200, { 'content-type': contentType, ...privateFields, ...replyHeaders });
  }

  /** Events end with one that tells the error; of other media the connection breaks, so that nobody takes a part for the whole. */
  #breakOff(thrown: unknown): void {
    const context = this.#context;
    const error = context.failed(thrown);
    if (this.#events === undefined) context.response.destroy();
    else if (context.hasLeft) this.#events.abandon();
    else {
      this.#events.send(`${toEvent(context.errorDialect.toErrorBody(error, context.id))}data: [DONE]\n\n`);
      this.#events.end();
    }
  }
}
