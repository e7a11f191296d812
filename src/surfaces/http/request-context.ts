import type { IncomingMessage, ServerResponse } from 'node:http';
import { toLatin1 } from '#base/text/bytes.ts';
import type { Clock } from '#base/time/clock.ts';
import { type ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Answer, ReplySink } from '#domain/calls/call.ts';
import { type CallRecord, toCallOutcome } from '#domain/calls/telemetry.ts';
import { sumCounts } from '#domain/usage/usage.ts';
import type { ErrorDialect } from './error-dialect.ts';
import { ignoredHeader, privateFields, toIgnoredNames } from './replies/header-fields.ts';
import { sendJson } from './replies/send-json.ts';

/** Abort reason if the client disconnects. */
class ClientDisconnected extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientDisconnected';
  }
}

const lingerMs = 1_000;
const emptySet: ReadonlySet<string> = new Set();

/** The sink of a reply. A canceled reply fails. */
type CancelableReply = Pick<ReplySink, 'fail'>;

/** A call request with its authenticated caller. */
export interface Exchange {
  readonly context: RequestContext;
  readonly caller: Caller;
}

/** One call request, from its headers to the end of its response. */
export class RequestContext {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: CallRecord;
  readonly clock: Clock;
  readonly errorDialect: ErrorDialect;
  /** Position in the list of calls in progress. -1 if the list does not contain this request. */
  slot = -1;
  #controller: AbortController | undefined;
  #cancellation: { readonly reason: unknown } | undefined;
  #error: ParleyError | undefined;
  /** The reply in progress or the reply that was sent. */
  #answer: (Pick<Answer, 'headers' | 'used'> & Partial<Pick<Answer, 'ignoredFields'>>) | undefined;
  #activeReply: { readonly answer: Answer; readonly reply: CancelableReply } | undefined;
  #isPaused = false;
  #isHandedOver = false;
  #heldMemory: DisposableStack | undefined;
  /** Ends when the run that continues after the response no longer needs the body. */
  #continuation: Promise<void> | undefined;
  /** Resolves when the response is sent or its connection is closed. */
  readonly closed: Promise<void>;

  constructor(options: Pick<RequestContext, 'id' | 'request' | 'response' | 'record' | 'clock' | 'errorDialect'>) {
    this.id = options.id;
    this.request = options.request;
    this.response = options.response;
    this.record = options.record;
    this.clock = options.clock;
    this.errorDialect = options.errorDialect;
    this.closed = new Promise((resolve) => {
      this.response.once('close', () => {
        if (!this.response.writableFinished) this.cancel(new ClientDisconnected());
        resolve();
      });
    });
  }

  /** Aborted when the client disconnects, or when the grace period of a stopping node ends. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancellation !== undefined) this.#controller.abort(this.#cancellation.reason);
    }
    return this.#controller.signal;
  }

  get caller(): Caller | undefined {
    return this.record.caller;
  }

  get isDisconnected(): boolean {
    return this.#cancellation?.reason instanceof ClientDisconnected;
  }

  /** Headers of every response. */
  get headers(): Record<string, string> {
    const headers: Record<string, string> = { ...this.#answer?.headers };
    for (const name of this.errorDialect.idHeaders) headers[name] = this.id;
    return headers;
  }

  /** Whether the client asks for the cost of the answer (docs/wire.md, Usage). */
  get wantsCost(): boolean {
    return this.request.headers['x-parley-include-cost'] === 'true';
  }

  /** Fields of the request that did not reach a model. */
  get ignored(): ReadonlySet<string> {
    return this.#answer?.ignoredFields ?? emptySet;
  }

  /** Headers of a successful response of the chat completions API. */
  get replyHeaders(): Record<string, string> {
    const { headers } = this;
    const ignored = this.#answer?.ignoredFields;
    if (ignored !== undefined && ignored.size > 0) headers[ignoredHeader] = toIgnoredNames([...ignored]);
    return headers;
  }

  /**
   * Resolves when the reply has ended. Until then, canceling the request cancels the reply. From now on, every response includes
   * the reply's headers, and its tokens are recorded.
   */
  async awaitReply(answer: Answer, reply: CancelableReply): Promise<void> {
    this.#answer = answer;
    this.#activeReply = { answer, reply };
    if (this.#cancellation !== undefined) this.#cancelReply(this.#cancellation.reason);
    await answer.ended;
    this.#activeReply = undefined;
  }

  /** Attaches a reply that is not streamed to the client, for its headers and its usage. */
  attachAnswer(answer: Pick<Answer, 'headers' | 'used'>): void {
    this.#answer = answer;
  }

  /** Pauses the reply until the client has caught up. */
  pauseUntil(drained: () => Promise<void>): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#activeReply?.answer.pause();
    void drained().then(() => {
      this.#isPaused = false;
      this.#activeReply?.answer.resume();
    });
  }

  /** Cancels the request. The reply in progress fails with the reason. */
  cancel(reason: unknown): void {
    if (this.#cancellation !== undefined) return;
    this.#cancellation = { reason };
    this.#controller?.abort(reason);
    this.#cancelReply(reason);
  }

  /** Stores the error for the call record, and returns it as a `ParleyError`. */
  recordError(error: unknown): ParleyError {
    this.#error = toParleyError(error);
    return this.#error;
  }

  /** Sends an error unless the client disconnected. */
  sendError(cause: unknown): void {
    const error = this.recordError(cause);
    const { response } = this;
    if (this.isDisconnected || response.headersSent) {
      response.destroy();
      return;
    }
    const baseHeaders = { ...this.headers, ...error.headers };
    const headers: Record<string, string> = {
      ...baseHeaders,
      ...this.errorDialect.toDialectHeaders?.(baseHeaders, this.clock.epochMs()),
    };
    if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
    const bytes = toLatin1(JSON.stringify(this.errorDialect.toErrorBody(error, this.id)));
    if (error.status === 413 && !this.request.complete) this.#sendBeforeBodyEnds(error.status, bytes, headers);
    else sendJson(response, error.status, bytes, headers);
  }

  /** Calls `release` when the request, and the run that continues it, no longer need the body. */
  holdInput(release: () => void): void {
    this.#heldMemory ??= new DisposableStack();
    this.#heldMemory.defer(release);
  }

  /** A run uses the body until `ended`, even after the response. */
  continueUntil(ended: Promise<void>): void {
    this.#continuation = ended;
  }

  /** Releases the memory of the body after the run that continues the request has ended. */
  releaseInput(): void {
    const held = this.#heldMemory;
    if (held !== undefined) void Promise.resolve(this.#continuation).then(() => held.dispose());
  }

  /** Hands the call record over to a run that continues after the request. The run then ends the record. */
  handOverRecord(): void {
    this.#isHandedOver = true;
  }

  /** Records the end of the request. Called after the response is closed, so that no client waits for the accounting. */
  finish(): void {
    if (this.#isHandedOver) return;
    const { prompt_tokens, completion_tokens } = sumCounts(this.#answer?.used() ?? []);
    const isDisconnected = this.#cancellation !== undefined && this.isDisconnected;
    const error = isDisconnected ? undefined : this.#error;
    this.record.end({
      outcome: isDisconnected ? 'left' : error === undefined ? 'ok' : toCallOutcome(error),
      status: isDisconnected && !this.response.headersSent ? 499 : this.response.statusCode,
      error,
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      atMs: this.clock.nowMs(),
    });
  }

  #cancelReply(reason: unknown): void {
    this.#activeReply?.answer.cancel();
    this.#activeReply?.reply.fail(reason);
  }

  /**
   * Sends an error while the client still uploads a body. The client reads the response only if the connection stays open, so
   * the body is drained for up to 1 s.
   */
  #sendBeforeBodyEnds(status: number, bytes: string, headers: Record<string, string>): void {
    const { request, response } = this;
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': bytes.length,
      connection: 'close',
      ...privateFields,
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
