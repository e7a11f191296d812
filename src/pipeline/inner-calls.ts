import type { JsonObject } from '#base/json/json.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { toParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { subjectPrefixes } from '#domain/callers/subjects.ts';
import type { Answer, Call, Calls, EmbeddingsReply, InnerReply } from '#domain/calls/call.ts';
import { type CallEnd, type CallRecord, type CallStart, type Telemetry, toCallOutcome } from '#domain/calls/telemetry.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { sumCounts } from '#domain/usage/usage.ts';
import type { PreparedCall } from './prepared-call.ts';

/** Dependencies of `InnerCalls`. */
export interface InnerCallsDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Returns a random ID. */
  readonly newId: () => string;
}

/** A call that an application makes while it answers another call. */
export interface InnerRequest {
  /** Identity of the application while it answers. */
  readonly caller: Caller;
  readonly deployment: string;
  readonly request: ChatRequest;
  readonly signal: AbortSignal;
}

/** A call from inside the service, with its trace and session. */
export interface InnerCallStart extends Pick<InnerRequest, 'request' | 'signal'> {
  readonly call: Omit<Call, 'record'>;
  readonly trace: Pick<CallStart, 'traceparent' | 'tracestate'>;
  /** ID of the session or conversation that the client named for the outer call. */
  readonly session?: string | undefined;
}

/** An embeddings call that the service makes for passages that all applications share. */
export interface ServiceEmbeddingsCall {
  readonly deployment: Deployment;
  readonly request: EmbeddingsRequest;
  readonly signal: AbortSignal;
}

/**
 * Calls deployments from inside the service. Each call is authorized, limited, and recorded as a separate call. This object needs
 * the pipeline, and the pipeline needs this object for quick apps. Therefore `connect` sets the pipeline later.
 */
export class InnerCalls {
  readonly #deps: InnerCallsDeps;
  #calls: Calls | undefined;

  constructor(deps: InnerCallsDeps) {
    this.#deps = deps;
  }

  /** Sets the pipeline. Called once. */
  connect(calls: Calls): void {
    this.#calls = calls;
  }

  /** Calls a deployment on behalf of an application that answers `outer`. Rejects with a `ParleyError`. */
  callFor(outer: PreparedCall, { caller, deployment, request, signal }: InnerRequest): Promise<InnerReply> {
    const { id, origin, record } = outer.target.call;
    const { trace, session } = record;
    return this.call({ call: { id, deployment, caller, origin }, trace, session, request, signal });
  }

  /** Calls a deployment. Rejects with a `ParleyError`. */
  async call({ call: callInput, trace, session, request, signal }: InnerCallStart): Promise<InnerReply> {
    const { clock, telemetry } = this.#deps;
    const { id, caller, deployment } = callInput;
    const record = telemetry.startCall({ operation: 'chat', route: undefined, requestId: id, ...trace, atMs: clock.nowMs() });
    record.caller = caller;
    record.session = session;
    record.tags = callInput.caller.chain?.tags;
    record.isPrivate = callInput.caller.chain?.isPrivate === true;
    record.setDeployment(deployment);
    const inner = new RecordedReply(record, clock);
    try {
      const target = await this.#pipeline.authorize({ ...callInput, record }, 'chat');
      signal.throwIfAborted();
      const cancel = (): void => inner.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      const start = (sink: Sink<Frame>): Handle => {
        signal.removeEventListener('abort', cancel);
        return inner.start(sink, (reply) => this.#pipeline.answer(target, { request }, reply));
      };
      return { frames: toAsyncIterable(start, signal), used: () => inner.used() };
    } catch (error) {
      if (signal.aborted) inner.cancel();
      else inner.close(error);
      throw error;
    }
  }

  /**
   * Calls an embedding deployment as the service itself. The call needs no user role and is counted under its own subject.
   * Rejects with a `ParleyError`.
   */
  async embedForService({ deployment, request, signal }: ServiceEmbeddingsCall): Promise<JsonObject> {
    const { telemetry, clock, newId } = this.#deps;
    const id = newId();
    const subject = `${subjectPrefixes.service}retrieval`;
    const caller: Caller = { subject, project: 'parley', roles: deployment.userRoles ?? [], chain: null };
    const start = { requestId: id, traceparent: undefined, tracestate: undefined, atMs: clock.nowMs() };
    const record = telemetry.startCall({ operation: 'embeddings', route: undefined, ...start });
    record.caller = caller;
    record.setDeployment(deployment.id);
    let reply: EmbeddingsReply | undefined;
    let error: unknown;
    try {
      const target = await this.#pipeline.authorize({ id, deployment: deployment.id, caller, record }, 'embedding');
      reply = await this.#pipeline.embed(target, request, signal);
      return reply.body;
    } catch (cause) {
      error = cause;
      throw cause;
    } finally {
      record.end(toCallEnd({ error, isCanceled: signal.aborted, used: reply?.used() ?? [], atMs: clock.nowMs() }));
    }
  }

  get #pipeline(): Calls {
    if (this.#calls === undefined) throw new Error('The pipeline is not connected.');
    return this.#calls;
  }
}

/** Relays a reply, and ends the record of its call when the reply ends. */
class RecordedReply implements Sink<Frame>, Handle {
  readonly #record: CallRecord;
  readonly #clock: Clock;
  #sink: Sink<Frame> | undefined;
  #answer: Answer | undefined;

  constructor(record: CallRecord, clock: Clock) {
    this.#record = record;
    this.#clock = clock;
  }

  start(sink: Sink<Frame>, answer: (reply: Sink<Frame>) => Answer): Handle {
    this.#sink = sink;
    try {
      this.#answer = answer(this);
    } catch (error) {
      this.close(error);
      throw error;
    }
    return this;
  }

  used(): readonly ModelUsage[] {
    return this.#answer?.used() ?? [];
  }

  push(frame: Frame): void {
    this.#sink?.push(frame);
  }

  end(): void {
    this.close(undefined);
    this.#sink?.end();
  }

  fail(error: unknown): void {
    this.close(error);
    this.#sink?.fail(error);
  }

  pause(): void {
    this.#answer?.pause();
  }

  resume(): void {
    this.#answer?.resume();
  }

  cancel(): void {
    this.#answer?.cancel();
    this.#end({ error: undefined, isCanceled: true });
  }

  /** Ends the record. `error` is undefined if the reply is complete. */
  close(error: unknown): void {
    this.#end({ error, isCanceled: false });
  }

  #end(end: Pick<InnerEnd, 'error' | 'isCanceled'>): void {
    this.#record.end(toCallEnd({ ...end, used: this.used(), atMs: this.#clock.nowMs() }));
  }
}

interface InnerEnd {
  readonly error: unknown;
  readonly isCanceled: boolean;
  readonly used: readonly ModelUsage[];
  readonly atMs: number;
}

/** Returns the end of an inner call. It has the status that a client would have received. */
function toCallEnd({ error: cause, isCanceled, used, atMs }: InnerEnd): CallEnd {
  const { prompt_tokens, completion_tokens } = sumCounts(used);
  const error = cause === undefined ? undefined : toParleyError(cause);
  return {
    outcome: isCanceled ? 'left' : toCallOutcome(error),
    status: isCanceled ? 499 : (error?.status ?? 200),
    error,
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    atMs,
  };
}
