import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { FoldLimit } from '#contract/chat/fold-frames.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { CallRecord } from '#domain/calls/telemetry.ts';
import { toChatRunError } from '#domain/responses/chat-run.ts';
import type { ResponseRef } from '#domain/responses/response-store.ts';
import type { RunTranslation } from './background-run.ts';
import type { ResponseResult, StorableResponse } from './response-storage.ts';

interface ChatRunOptions {
  readonly ref: ResponseRef;
  /** ID that the client chose. */
  readonly id: string;
  readonly model: string;
  readonly createdAtSeconds: number;
  readonly record: CallRecord;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Maximum size of the stored chunks. A conversation of the page has the same maximum. */
const storageBound = {
  maxBytes: 32 * 1024 ** 2,
  message: 'The answer is too large to be continued in the background. Request it with a direct call.',
};

/** Adds a `sequence_number` to each chunk of a chat completion. Otherwise, the chunks equal those of a direct call. */
export class ChatRunTranslation implements RunTranslation {
  /** Resolves when the first event arrives or the run ends. The value is the error of a run that failed before its first event. */
  readonly started: Promise<ParleyError | undefined>;
  readonly #options: ChatRunOptions;
  readonly #limit = new FoldLimit(storageBound);
  readonly #onStarted: (error: ParleyError | undefined) => void;
  readonly #startedAtMs: number;
  /** Undefined while the run is in progress. */
  #durationMs: number | undefined;
  #next = 0;
  #status: 'in_progress' | 'completed' | 'failed' | 'cancelled' = 'in_progress';

  constructor(options: ChatRunOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.nowMs();
    const { promise, resolve } = Promise.withResolvers<ParleyError | undefined>();
    this.started = promise;
    this.#onStarted = resolve;
  }

  /** The run as its client reads it. */
  get visibleRun(): JsonObject {
    const { id, model, createdAtSeconds: created_at } = this.#options;
    const duration = this.#durationMs !== undefined && { duration_ms: this.#durationMs };
    return { id, object: 'chat.run', created_at, model, status: this.#status, ...duration };
  }

  /** The run in the form that is stored. */
  get response(): StorableResponse & JsonObject {
    const { ref, createdAtSeconds: created_at } = this.#options;
    const stored = { id: ref.id, created_at, status: this.#status, background: true, output: [] };
    return { ...stored, run: this.visibleRun };
  }

  get result(): ResponseResult {
    return { response: this.response, items: [] };
  }

  begin(): readonly object[] {
    return [];
  }

  /** Throws `upstream_failed` if the chunks are larger than the store accepts. */
  consume(frame: Frame): readonly object[] {
    const { record, clock } = this.#options;
    this.#limit.consume(frame);
    if (this.#next === 0) record.recordFirstByte(clock.nowMs());
    else record.recordChunk(clock.nowMs());
    this.#onStarted(undefined);
    return frame.chunks.map((chunk) => ({ sequence_number: this.#next++, ...chunk }));
  }

  end(): readonly object[] {
    this.#end('completed');
    return [];
  }

  fail(error: ParleyError): readonly object[] {
    if (this.#next === 0) this.#onStarted(error);
    this.#end('failed');
    return [toChatRunError(error, this.#next++)];
  }

  cancel(): void {
    this.#end('cancelled');
  }

  #end(status: 'completed' | 'failed' | 'cancelled'): void {
    this.#status = status;
    this.#durationMs = Math.round(this.#options.clock.nowMs() - this.#startedAtMs);
    this.#onStarted(undefined);
  }
}
