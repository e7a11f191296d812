import type { Clock } from '#base/clock.ts';
import { pushed } from '#base/pushed.ts';
import type { Handle, Sink } from '#base/sink.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { toParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { Answer, Call, Calls, InnerReply, Target } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CallRecord, CallStart, Telemetry } from '#domain/telemetry.ts';
import type { PreparedCall } from './prepared-call.ts';
import { toInnerEnd } from './to-inner-end.ts';

export interface InnerCallDeps {
  readonly calls: () => Calls;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/** What an application asks of another deployment while it answers. */
export interface InnerAsk {
  /** Who the application is meanwhile. */
  readonly caller: Caller;
  readonly deployment: string;
  readonly request: ChatRequest;
  readonly signal: AbortSignal;
}

/** Calls another deployment on behalf of an application that runs here: with the rights of its per-request key, measured as a call of its own. */
export function callInside(deps: InnerCallDeps, outer: PreparedCall, ask: InnerAsk): Promise<InnerReply> {
  const { id, origin, record } = outer.target.call;
  const { caller, deployment, request, signal } = ask;
  const { trace, session } = record;
  return openInside(deps, { call: { id, deployment, caller, origin }, trace, session, request, signal });
}

/** A call from inside, and what it is a part of. */
export interface InsideCall extends Pick<InnerAsk, 'request' | 'signal'> {
  readonly call: Omit<Call, 'record'>;
  readonly trace: Pick<CallStart, 'traceparent' | 'tracestate'>;
  /** Id of the session or conversation that the client named for the call that it is a part of. */
  readonly session?: string | undefined;
}

/** Calls a deployment from inside, measured as a call of its own. Rejects with a ParleyError. */
export async function openInside(
  deps: InnerCallDeps,
  { call: asked, trace, session, request, signal }: InsideCall,
): Promise<InnerReply> {
  const { clock, telemetry } = deps;
  const { id, caller, deployment } = asked;
  const record = telemetry.begin({ operation: 'chat', route: undefined, requestId: id, ...trace, atMs: clock.nowMs() });
  record.caller = caller;
  record.session = session;
  record.deployment(deployment);
  const call: Call = { ...asked, record };
  const inner = new InnerCall(record, clock);
  try {
    const target = await deps.calls().authorize(call, 'chat');
    const start = (sink: Sink<Frame>): Handle => inner.answer(deps.calls(), { target, request }, sink);
    return { frames: pushed(start, signal), used: () => inner.used() };
  } catch (thrown) {
    inner.close(thrown);
    throw thrown;
  }
}

/** Passes the reply on and ends the record of its call with it. */
class InnerCall implements Sink<Frame>, Handle {
  readonly #record: CallRecord;
  readonly #clock: Clock;
  #sink: Sink<Frame> | undefined;
  #answer: Answer | undefined;

  constructor(record: CallRecord, clock: Clock) {
    this.#record = record;
    this.#clock = clock;
  }

  answer(calls: Calls, { target, request }: { target: Target; request: ChatRequest }, sink: Sink<Frame>): Handle {
    this.#sink = sink;
    try {
      this.#answer = calls.answer(target, { request }, this);
    } catch (thrown) {
      this.close(thrown);
      throw thrown;
    }
    return this;
  }

  used: InnerReply['used'] = () => this.#answer?.used() ?? [];

  frame(frame: Frame): void {
    this.#sink?.frame(frame);
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
    this.#end({ error: undefined, isLeft: true });
  }

  /** Ends the record; `thrown` is undefined for a good end. */
  close(thrown: unknown): void {
    this.#end({ error: thrown === undefined ? undefined : toParleyError(thrown), isLeft: false });
  }

  #end(how: { readonly error: ReturnType<typeof toParleyError> | undefined; readonly isLeft: boolean }): void {
    this.#record.end(toInnerEnd({ ...how, used: this.used(), atMs: this.#clock.nowMs() }));
  }
}
