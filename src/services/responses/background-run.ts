import type { JsonObject } from '#base/json/json.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { ResponseEvent } from '#contract/responses/events.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { Answer, ReplySink } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ResponseRef, RunStore } from '#domain/responses/response-store.ts';
import type { ResponseResult } from './response-storage.ts';
import type { StoredResponseStart } from './stored-response-start.ts';

/** Events that may wait for the store before their source is paused. */
const maxBufferedEvents = 5_000;
const retryMs = 500;

/** Translates the frames of one reply to the numbered events of a response. */
export interface ResponseTranslation {
  /** The response so far. Complete after its last event. */
  readonly response: ResponseObject;
  /** Returns the first events, unless `take` has returned them. */
  begin(): ResponseEvent[];
  /** Throws upstream_failed for a frame that is no part of a response. */
  take(frame: Frame): ResponseEvent[];
  end(): ResponseEvent[];
  fail(error: ParleyError): ResponseEvent[];
  /** Ends the response without an event. */
  cancel(): void;
}

export interface BackgroundRunDeps {
  readonly ref: ResponseRef;
  readonly node: string;
  readonly caller: Caller;
  readonly run: ResponseTranslation;
  readonly opening: StoredResponseStart;
  /** What the run said of its end. */
  readonly getResult: () => ResponseResult | undefined;
  readonly runs: RunStore;
  /** Called whenever there is more to read. */
  readonly onChange: () => void;
  /** Called once, when all of it is written. */
  readonly onEnded: (error: ParleyError | undefined) => void;
}

/** A response that nobody has to wait for: its events are kept as they come, those of one turn of the event loop together. */
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
    return this.#deps.caller;
  }

  follow(answer: Answer): void {
    this.#answer = answer;
    if (this.#hasEnded) answer.cancel();
  }

  /** Ends it as failed if it is still running then. The per-request keys of its applications end with it. */
  endAfter(maxMs: number): void {
    if (this.#hasEnded) return;
    const message = `The background response was still running after its maximum of ${maxMs / 1000} s. Split the task into shorter ones.`;
    this.#deadline = setTimeout(() => this.cancel(new ParleyError('upstream_failed', message)), maxMs).unref();
  }

  frame(frame: Frame): void {
    if (!this.#hasEnded) this.#enqueue(this.#deps.run.take(frame));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#enqueue(this.#deps.run.end());
    this.#finish();
  }

  fail(reason: unknown): void {
    if (this.#hasEnded) return;
    const error = toParleyError(reason);
    this.#enqueue(this.#deps.run.fail(error));
    this.#finish(error);
  }

  /** A stop of the node ends it, or the end of the key that it began with. */
  cancel(reason: unknown): void {
    this.#answer?.cancel();
    this.fail(reason);
  }

  /** Ends it for its user; resolves once that is written. */
  stop(): Promise<void> {
    this.#answer?.cancel();
    if (!this.#hasEnded) {
      this.#enqueue(this.#deps.run.begin());
      this.#deps.run.cancel();
      this.#finish();
    }
    return this.#ending ?? Promise.resolve();
  }

  /** It was deleted, or is another node's by now: nothing more of it is kept. */
  drop(): void {
    this.#answer?.cancel();
    this.#isDropped = true;
    if (this.#hasEnded) return;
    this.#deps.run.cancel();
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

  /** In one statement what has come since the last; what the store does not take now it may take in a while. */
  async #write(): Promise<void> {
    const { runs, ref, node, onChange } = this.#deps;
    while (this.#buffer.length > 0 && !this.#hasEnded) {
      const events = this.#buffer;
      this.#buffer = [];
      try {
        if (!(await runs.append(ref, node, toEventRun(events)))) return this.drop();
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
    const { opening, getResult, ref, runs, node, onChange, onEnded: onOver } = this.#deps;
    await this.#writing;
    const events = this.#buffer;
    this.#buffer = [];
    const isStored = await opening.onEnded(
      this.#isDropped ? undefined : getResult(),
      events.length > 0 ? toEventRun(events) : undefined,
    );
    // One that somebody else ended is nobody's from here on.
    if (isStored !== true) await runs.release(ref, node).catch(() => undefined);
    onChange();
    onOver(error);
  }
}

function toEventRun(events: readonly JsonObject[]): { first: number; events: readonly JsonObject[] } {
  return { first: Number(events[0]?.sequence_number), events };
}
