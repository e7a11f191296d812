import type { Chunk, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { ChunkFold } from '#contract/chat/chunk-fold.ts';
import { ServiceFault } from '../service/fault.ts';
import type { Reply, StageTime } from './conversation.ts';

/** Makes one text of what was said before and what comes behind it; `isOver` once nothing more comes. */
export type JoinTexts = (said: string, more: string, isOver: boolean) => string;

/** Folds the chunks of one reply, and notes when its steps began and ended. A reply that goes on behind an earlier one has the parts of both. */
export class ReplyFold {
  readonly #start: Reply;
  readonly #chunks = new ChunkFold((message) => new ServiceFault({ status: 200, code: 'upstream_failed', message }));
  readonly #running = new Set<number>();
  readonly #earlier: Reply | undefined;
  readonly #join: JoinTexts;
  #stageTimes: Readonly<Record<number, StageTime>> = {};

  constructor(start: Reply, earlier?: Reply, join: JoinTexts = inParagraphs) {
    this.#start = start;
    this.#earlier = earlier;
    this.#join = join;
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
    const { id, choices, usage, statistics } = this.#chunks.completion();
    const [choice] = choices;
    const { content, custom_content: custom = {}, function_call: call, ...others } = choice?.message ?? { role: 'assistant' };
    const thoughts = thoughtsIn(others);
    const { text: said = '', custom: shown = {}, stageTimes: before = {} } = this.#earlier ?? {};
    const steps = shown.stages?.length ?? 0;
    return {
      ...this.#start,
      text: this.#join(said, content ?? '', choice?.finish_reason != null),
      custom: behind(shown, custom),
      stageTimes: {
        ...before,
        ...Object.fromEntries(Object.entries(this.#stageTimes).map(([at, time]) => later(at, time, steps))),
      },
      ...(id !== '' && { responseId: id }),
      ...(thoughts !== '' && { thoughts }),
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

function inParagraphs(said: string, more: string): string {
  return [said, more].filter((part) => part !== '').join('\n\n');
}

/** Upstreams name them in two ways. */
function thoughtsIn({ reasoning_content, reasoning }: Readonly<Record<string, unknown>>): string {
  return [reasoning_content, reasoning].find((said): said is string => typeof said === 'string') ?? '';
}

/** Parts that are numbered go on behind those that were there; of anything else the newer counts. */
function behind(before: ResponseCustomContent, custom: ResponseCustomContent): ResponseCustomContent {
  const joined = { ...before, ...custom };
  for (const key of ['stages', 'attachments'] as const) {
    const [first, second] = [before[key] ?? [], custom[key] ?? []];
    const items = [...first, ...second.map((item) => ({ ...item, index: item.index + first.length }))];
    if (items.length > 0) Object.assign(joined, { [key]: items });
  }
  return joined;
}

function later(at: string, time: StageTime, steps: number): [number, StageTime] {
  const { within } = time;
  return [Number(at) + steps, within === undefined ? time : { ...time, within: within + steps }];
}
