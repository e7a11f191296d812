import { Accumulator } from '#contract/accumulate.ts';
import type { Chunk, StageDelta } from '#contract/chunk.ts';
import type { Reply, StageTime } from './conversation.ts';

/** Folds the chunks of one reply, and notes when its steps began and ended. */
export class ReplyFold {
  readonly #start: Reply;
  readonly #chunks = new Accumulator();
  readonly #running = new Set<number>();
  #stageTimes: Readonly<Record<number, StageTime>> = {};

  constructor(start: Reply) {
    this.#start = start;
  }

  add(chunk: Chunk, nowMs: number): void {
    this.#chunks.add(chunk);
    for (const { index, delta } of chunk.choices) {
      const stages = index === 0 ? delta?.custom_content?.stages : undefined;
      if (Array.isArray(stages)) for (const stage of stages) this.#note(stage, nowMs);
    }
  }

  /** The reply so far. */
  reply(): Reply {
    const { choices, usage, statistics } = this.#chunks.completion();
    const [choice] = choices;
    const { content, custom_content: custom = {}, function_call: call } = choice?.message ?? { role: 'assistant' };
    return {
      ...this.#start,
      text: content ?? '',
      custom,
      stageTimes: this.#stageTimes,
      ...(choice?.finish_reason != null && { finish: choice.finish_reason }),
      ...(call !== undefined && { functionCall: call as NonNullable<Reply['functionCall']> }),
      ...(usage != null && { usage }),
      ...(statistics !== undefined && { statistics }),
    };
  }

  #note({ index, status }: StageDelta, nowMs: number): void {
    let time = this.#stageTimes[index];
    if (time === undefined) {
      const [only] = this.#running.size === 1 ? this.#running : [];
      time = { startedAtMs: nowMs, ...(only !== undefined && { within: only }) };
      if (only === undefined) this.#running.add(index);
    }
    if (status != null) {
      time = { ...time, endedAtMs: nowMs };
      this.#running.delete(index);
    }
    this.#stageTimes = { ...this.#stageTimes, [index]: time };
  }
}
