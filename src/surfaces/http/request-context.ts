import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { toLatin1 } from '#base/latin1.ts';
import { type ParleyError, toParleyError } from '#contract/errors.ts';
import type { Reply } from '#domain/call.ts';
import { type CallRecord, toCallOutcome } from '#domain/telemetry.ts';
import { addUp } from '#domain/usage/usage.ts';
import type { ErrorDialect } from './error-dialect.ts';
import { sendJson } from './send-json.ts';

/** The reason of a signal whose caller closed the connection. */
export class CallerLeft extends Error {
  constructor() {
    super('the caller closed the connection');
    this.name = 'CallerLeft';
  }
}

const lingerMs = 1_000;

/** One request at the door, from its head to the end of its answer. */
export class RequestContext {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: CallRecord;
  readonly clock: Clock;
  readonly errorDialect: ErrorDialect;
  readonly #controller: AbortController;
  #error: ParleyError | undefined;
  #reply: Pick<Reply, 'headers' | 'used'> | undefined;

  constructor(
    parts: Pick<RequestContext, 'id' | 'request' | 'response' | 'record' | 'clock' | 'errorDialect'>,
    controller: AbortController,
  ) {
    this.id = parts.id;
    this.request = parts.request;
    this.response = parts.response;
    this.record = parts.record;
    this.clock = parts.clock;
    this.errorDialect = parts.errorDialect;
    this.#controller = controller;
  }

  /** Aborted when the caller leaves, or when this node stops and can wait no longer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasLeft(): boolean {
    return this.signal.reason instanceof CallerLeft;
  }

  /** Header fields of every answer. */
  get headers(): Record<string, string> {
    const headers: Record<string, string> = { ...this.#reply?.headers };
    for (const name of this.errorDialect.idHeaders) headers[name] = this.id;
    return headers;
  }

  /** Notes the reply that is to be sent: its header fields are on every answer from now on, an error too, and its tokens are counted. */
  answersBy(reply: Pick<Reply, 'headers' | 'used'>): void {
    this.#reply = reply;
  }

  /** Notes what the caller is told; gives the error as it may be shown. */
  failed(thrown: unknown): ParleyError {
    this.#error = toParleyError(thrown);
    return this.#error;
  }

  /** Answers with an error, unless the caller is gone. */
  sendError(thrown: unknown): void {
    const error = this.failed(thrown);
    const { response } = this;
    if (this.hasLeft || response.headersSent) {
      response.destroy();
      return;
    }
    const usual = { ...this.headers, ...error.headers };
    const headers: Record<string, string> = { ...usual, ...this.errorDialect.toOwnHeaders?.(usual, this.clock.epochMs()) };
    if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
    const bytes = toLatin1(JSON.stringify(this.errorDialect.toErrorBody(error, this.id)));
    if (error.status === 413) this.#sendBeforeBodyEnds(error.status, bytes, headers);
    else sendJson(response, error.status, bytes, headers);
  }

  /** Ends the record of the call. */
  end(): void {
    const { prompt_tokens, completion_tokens } = addUp(this.#reply?.used() ?? []);
    this.record.end({
      outcome: this.hasLeft ? 'left' : toCallOutcome(this.#error),
      status: this.hasLeft && !this.response.headersSent ? 499 : this.response.statusCode,
      error: this.hasLeft ? undefined : this.#error,
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      atMs: this.clock.nowMs(),
    });
  }

  /** A caller in the middle of a long body reads the answer only if the connection outlives it: what comes is let run for a moment. */
  #sendBeforeBodyEnds(status: number, bytes: string, headers: Record<string, string>): void {
    const { request, response } = this;
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': bytes.length,
      connection: 'close',
      ...headers,
    });
    response.write(bytes, 'latin1');
    const timer = setTimeout(() => response.end(), lingerMs);
    request.resume();
    request.once('close', () => {
      clearTimeout(timer);
      response.end();
    });
  }
}
