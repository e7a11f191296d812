import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Answer, ReplySink, Target } from '#domain/calls/call.ts';
import { toCallOutcome } from '#domain/calls/telemetry.ts';
import type { EventBatch, ResponseRef, RunStore } from '#domain/responses/response-store.ts';
import { sumCounts } from '#domain/usage/usage.ts';
import type { DatabaseResponse } from './database-response.ts';
import type { ResponseResult } from './response-storage.ts';

/** Maximum number of buffered events. If more events wait for the store, their source is paused. */
const maxBufferedEvents = 5_000;
const retryMs = 500;

/** Translates the frames of one reply to events with consecutive `sequence_number`. */
export interface RunTranslation {
  /** Returns the first events, unless `consume` has returned them. */
  begin(): readonly object[];
  /** Throws `upstream_failed` for a frame that the run does not accept. */
  consume(frame: Frame): readonly object[];
  end(): readonly object[];
  fail(error: ParleyError): readonly object[];
  /** Ends the run without an event. */
  cancel(): void;
  /** Final state of the run. Undefined before its end, and if the run ended without an event. */
  readonly result: ResponseResult | undefined;
}

export interface BackgroundRunDeps {
  readonly ref: ResponseRef;
  /** The run ends its call record. */
  readonly target: Target;
  readonly translation: RunTranslation;
  readonly databaseResponse: DatabaseResponse;
  readonly node: string;
  readonly runs: RunStore;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Called whenever new events are available. */
  readonly onChange: () => void;
  /** Called once, after the end is stored. */
  readonly onEnded: () => void;
}

/** A response that continues without its client. Stores its events as they arrive, and combines those of one event loop turn. */
export class BackgroundRun implements ReplySink {
  slot = -1;
  readonly #deps: BackgroundRunDeps;
  #answer: Answer | undefined;
  #buffer: JsonObject[] = [];
  #writing: Promise<void> | undefined;
  #isDue = false;
  #hasEnded = false;
  #isDropped = false;
  #ending: Promise<void> | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(deps: BackgroundRunDeps) {
    this.#deps = deps;
  }

  get caller(): Caller {
    return this.#deps.target.call.caller;
  }

  follow(answer: Answer): void {
    this.#answer = answer;
    if (this.#hasEnded) answer.cancel();
  }

  /** Ends the response as failed after `maxMs`. The per-request keys of its applications end with it. */
  endAfter(maxMs: number): void {
    if (this.#hasEnded) return;
    const message = `The background response was still running after its maximum of ${maxMs / 1000} s. Split the task into shorter ones.`;
    this.#deadline = setTimeout(() => this.cancel(new ParleyError('upstream_failed', message)), maxMs).unref();
  }

  push(frame: Frame): void {
    if (!this.#hasEnded) this.#enqueue(this.#deps.translation.consume(frame));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#enqueue(this.#deps.translation.end());
    this.#finish();
  }

  fail(reason: unknown): void {
    if (this.#hasEnded) return;
    const error = toParleyError(reason);
    this.#enqueue(this.#deps.translation.fail(error));
    this.#finish(error);
  }

  /** Ends the response because the node stops, or because the key of its caller is no longer valid. */
  cancel(reason: unknown): void {
    this.#answer?.cancel();
    this.fail(reason);
  }

  /** Cancels the response on request of its user. Resolves after the end is stored. */
  stop(): Promise<void> {
    this.#answer?.cancel();
    if (!this.#hasEnded) {
      this.#enqueue(this.#deps.translation.begin());
      this.#deps.translation.cancel();
      this.#finish();
    }
    return this.#ending ?? Promise.resolve();
  }

  /** Stops without storing further data, because the response was deleted or belongs to another node. */
  drop(): void {
    this.#answer?.cancel();
    this.#isDropped = true;
    if (this.#hasEnded) return;
    this.#deps.translation.cancel();
    this.#finish();
  }

  #enqueue(events: readonly object[]): void {
    this.#buffer.push(...(events as readonly JsonObject[]));
    if (this.#buffer.length > maxBufferedEvents) this.#answer?.pause();
    if (this.#isDue || this.#writing !== undefined) return;
    this.#isDue = true;
    setImmediate(() => this.#writeSoon());
  }

  #writeSoon(): void {
    this.#isDue = false;
    if (this.#hasEnded || this.#writing !== undefined) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Stores all buffered events in one operation, with retries while the store is unavailable. */
  async #write(): Promise<void> {
    const { runs, ref, node, onChange } = this.#deps;
    while (this.#buffer.length > 0 && !this.#hasEnded) {
      const events = this.#buffer;
      this.#buffer = [];
      try {
        if (!(await runs.append(ref, node, toEventBatch(events)))) return this.drop();
        onChange();
      } catch {
        this.#buffer = [...events, ...this.#buffer];
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
      this.#answer?.resume();
    }
  }

  #finish(error?: ParleyError): void {
    clearTimeout(this.#deadline);
    this.#hasEnded = true;
    this.#ending = this.#close(error);
  }

  async #close(error: ParleyError | undefined): Promise<void> {
    const { translation, databaseResponse, ref, runs, node, onChange, onEnded } = this.#deps;
    await this.#writing;
    const events = this.#buffer;
    this.#buffer = [];
    const result = this.#isDropped ? undefined : translation.result;
    const isStored = await databaseResponse.onEnded(result, events.length > 0 ? toEventBatch(events) : undefined);
    // If another node or the user ended the response, this node gives up its claim.
    if (isStored !== true) await runs.release(ref, node).catch(() => undefined);
    onChange();
    this.#endRecord(error);
    onEnded();
  }

  #endRecord(error: ParleyError | undefined): void {
    const { target, clock } = this.#deps;
    const { prompt_tokens, completion_tokens } = sumCounts(this.#answer?.used() ?? []);
    target.call.record.end({
      outcome: toCallOutcome(error),
      status: error?.status ?? 200,
      error,
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      atMs: clock.nowMs(),
    });
  }
}

function toEventBatch(events: readonly JsonObject[]): EventBatch {
  return { first: Number(events[0]?.sequence_number), events };
}
