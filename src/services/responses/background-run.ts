import type { JsonObject } from '#base/json/json.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { ResponseEvent } from '#contract/responses/events.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { Answer, ReplySink } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ResponsePlace, RunStore } from '#domain/responses/response-store.ts';
import type { KeptResponse } from './response-keeper.ts';
import type { StoredOpening } from './stored-opening.ts';

/** Events that may wait for the store before their source is paused. */
const maxWaiting = 5_000;
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
  readonly place: ResponsePlace;
  readonly node: string;
  readonly caller: Caller;
  readonly run: ResponseTranslation;
  readonly opening: StoredOpening;
  /** What the run said of its end. */
  readonly kept: () => KeptResponse | undefined;
  readonly runs: RunStore;
  /** Called whenever there is more to read. */
  readonly onChange: () => void;
  /** Called once, when all of it is written. */
  readonly onOver: (error: ParleyError | undefined) => void;
}

/** A response that nobody has to wait for: its events are kept as they come, those of one turn of the event loop together. */
export class BackgroundRun implements ReplySink {
  slot = -1;
  readonly #deps: BackgroundRunDeps;
  #answer: Answer | undefined;
  #told: JsonObject[] = [];
  #writing: Promise<void> | undefined;
  #isDue = false;
  #isOver = false;
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
    if (this.#isOver) answer.cancel();
  }

  /** Ends it as failed if it is still running then. The per-request keys of its applications end with it. */
  endAfter(maxMs: number): void {
    if (this.#isOver) return;
    const message = `The background response was still running after its maximum of ${maxMs / 1000} s. Split the task into shorter ones.`;
    this.#deadline = setTimeout(() => this.cancel(new ParleyError('upstream_failed', message)), maxMs).unref();
  }

  frame(frame: Frame): void {
    if (!this.#isOver) this.#tell(this.#deps.run.take(frame));
  }

  end(): void {
    if (this.#isOver) return;
    this.#tell(this.#deps.run.end());
    this.#finish();
  }

  fail(thrown: unknown): void {
    if (this.#isOver) return;
    const error = toParleyError(thrown);
    this.#tell(this.#deps.run.fail(error));
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
    if (!this.#isOver) {
      this.#tell(this.#deps.run.begin());
      this.#deps.run.cancel();
      this.#finish();
    }
    return this.#ending ?? Promise.resolve();
  }

  /** It was deleted, or is another node's by now: nothing more of it is kept. */
  drop(): void {
    this.#answer?.cancel();
    this.#isDropped = true;
    if (this.#isOver) return;
    this.#deps.run.cancel();
    this.#finish();
  }

  #tell(events: readonly object[]): void {
    this.#told.push(...(events as readonly JsonObject[]));
    if (this.#told.length > maxWaiting) this.#answer?.pause();
    if (this.#isDue || this.#writing !== undefined) return;
    this.#isDue = true;
    setImmediate(() => this.#writeSoon());
  }

  #writeSoon(): void {
    this.#isDue = false;
    if (this.#isOver || this.#writing !== undefined) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** In one statement what has come since the last; what the store does not take now it may take in a while. */
  async #write(): Promise<void> {
    const { runs, place, node, onChange } = this.#deps;
    while (this.#told.length > 0 && !this.#isOver) {
      const events = this.#told;
      this.#told = [];
      try {
        if (!(await runs.append(place, node, toEventRun(events)))) return this.drop();
        onChange();
      } catch {
        this.#told = [...events, ...this.#told];
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
      this.#answer?.resume();
    }
  }

  #finish(error?: ParleyError): void {
    clearTimeout(this.#deadline);
    this.#isOver = true;
    this.#ending = this.#close(error);
  }

  async #close(error: ParleyError | undefined): Promise<void> {
    const { opening, kept, place, runs, node, onChange, onOver } = this.#deps;
    await this.#writing;
    const events = this.#told;
    this.#told = [];
    const isKept = await opening.ended(this.#isDropped ? undefined : kept(), events.length > 0 ? toEventRun(events) : undefined);
    // One that somebody else ended is nobody's from here on.
    if (isKept !== true) await runs.release(place, node).catch(() => undefined);
    onChange();
    onOver(error);
  }
}

function toEventRun(events: readonly JsonObject[]): { first: number; events: readonly JsonObject[] } {
  return { first: Number(events[0]?.sequence_number), events };
}
