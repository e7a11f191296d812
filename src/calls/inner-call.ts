import type { Clock } from '#base/clock.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { type ParleyError, toParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { Call, Complete, Reply } from '#domain/call.ts';
import type { CallRecord, Telemetry } from '#domain/telemetry.ts';
import { toHolder } from './answer.ts';
import type { Answering } from './answering.ts';
import { toInnerEnd } from './to-inner-end.ts';

export interface InnerCallDeps {
  readonly complete: Complete;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
}

/** What an application asks of another deployment while it answers. */
export interface InnerAsk {
  readonly deployment: string;
  readonly request: ChatRequest;
  readonly signal: AbortSignal;
}

/** Calls another deployment on behalf of an application that runs here: with the rights of its per-request key, measured as a call of its own. */
export async function callInside(tools: InnerCallDeps, outer: Answering, ask: InnerAsk): Promise<Reply> {
  const { clock } = tools;
  const { id, record: outerRecord } = outer.call;
  const caller = toHolder(outer);
  const record = tools.telemetry.begin({
    operation: 'chat',
    route: undefined,
    requestId: id,
    ...outerRecord.trace,
    atMs: clock.nowMs(),
  });
  record.caller(caller);
  record.deployment(ask.deployment);
  const call: Call = { id, deployment: ask.deployment, caller, signal: ask.signal, record, read: () => ask.request };
  const ending = new InnerEnd(record, clock, ask.signal);
  try {
    const reply = await tools.complete(call);
    return { ...reply, frames: ending.watch(reply) };
  } catch (thrown) {
    ending.end([], toParleyError(thrown));
    throw thrown;
  }
}

/** Ends the record of an inner call, however it ends. */
class InnerEnd {
  readonly #record: CallRecord;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor(record: CallRecord, clock: Clock, signal: AbortSignal) {
    this.#record = record;
    this.#clock = clock;
    this.#signal = signal;
  }

  async *watch({ frames, used }: Reply): AsyncIterable<Frame> {
    let error: ParleyError | undefined;
    try {
      yield* frames;
    } catch (thrown) {
      error = toParleyError(thrown);
      throw thrown;
    } finally {
      this.end(used(), error);
    }
  }

  end(used: ReturnType<Reply['used']>, error: ParleyError | undefined): void {
    this.#record.end(toInnerEnd({ error, used, signal: this.#signal, atMs: this.#clock.nowMs() }));
  }
}
