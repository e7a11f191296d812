import type { Chunk, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { ChunkFold } from '#contract/chat/chunk-fold.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';
import { ServiceError } from '../service/service-error.ts';
import type { JoinTexts } from './continuation.ts';
import type { Reply, StageTime } from './conversation.ts';

/**
 * Accumulates the chunks of a reply, and records the start and end of its steps. If the reply continues an earlier one, it
 * contains the parts of both.
 */
export class ReplyFold {
  readonly #start: Reply;
  readonly #chunks = new ChunkFold((message) => new ServiceError({ status: 200, code: 'upstream_failed', message }));
  readonly #running = new Set<number>();
  readonly #earlier: Reply | undefined;
  readonly #join: JoinTexts;
  #stageTimes: Readonly<Record<number, StageTime>> = {};

  constructor(start: Reply, earlier?: Reply, join: JoinTexts = joinParagraphs) {
    this.#start = start;
    this.#earlier = earlier;
    this.#join = join;
  }

  add(chunk: Chunk, nowMs: number): void {
    this.#chunks.add(chunk);
    for (const { index, delta } of chunk.choices) {
      const stages = index === 0 ? delta?.custom_content?.stages : undefined;
      if (Array.isArray(stages)) for (const stage of stages) this.#recordStage(stage, nowMs);
    }
  }

  /** Returns the reply so far. */
  getReply(): Reply {
    const { id, choices, usage, statistics } = this.#chunks.getCompletion();
    const [choice] = choices;
    const { content, custom_content: custom = {}, function_call: call, ...fields } = choice?.message ?? { role: 'assistant' };
    const thoughts = readThoughts(fields);
    const toolCalls = getToolCalls(fields as Message);
    const { text: earlierText = '', custom: earlierCustom = {}, stageTimes: before = {} } = this.#earlier ?? {};
    const steps = earlierCustom.stages?.length ?? 0;
    return {
      ...this.#start,
      text: this.#join(earlierText, content ?? '', choice?.finish_reason != null),
      custom: appendCustomContent(earlierCustom, custom),
      stageTimes: {
        ...before,
        ...Object.fromEntries(Object.entries(this.#stageTimes).map(([at, time]) => shiftStage(at, time, steps))),
      },
      ...(id !== '' && { responseId: id }),
      ...(thoughts !== '' && { thoughts }),
      ...(choice?.finish_reason != null && { finish: choice.finish_reason }),
      ...(call !== undefined && { functionCall: call as NonNullable<Reply['functionCall']> }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(usage != null && { usage }),
      ...(statistics !== undefined && { statistics }),
    };
  }

  #recordStage({ index, status }: StageDelta, nowMs: number): void {
    let time = this.#stageTimes[index];
    if (time === undefined) {
      const [parentIndex] = this.#running.size === 1 ? this.#running : [];
      time = { startedAtMs: nowMs, ...(parentIndex !== undefined && { within: parentIndex }) };
      if (parentIndex === undefined) this.#running.add(index);
    }
    if (status != null) {
      time = { ...time, endedAtMs: nowMs };
      this.#running.delete(index);
    }
    this.#stageTimes = { ...this.#stageTimes, [index]: time };
  }
}

function joinParagraphs(text: string, addition: string): string {
  return [text, addition].filter((part) => part !== '').join('\n\n');
}

/** Returns the model's reasoning. Upstreams use two different field names. */
function readThoughts({ reasoning_content, reasoning }: Readonly<Record<string, unknown>>): string {
  return [reasoning_content, reasoning].find((value): value is string => typeof value === 'string') ?? '';
}

/** Appends the stages and attachments to the earlier ones and renumbers them. Newer values of other fields replace older ones. */
function appendCustomContent(before: ResponseCustomContent, custom: ResponseCustomContent): ResponseCustomContent {
  const joined = { ...before, ...custom };
  for (const key of ['stages', 'attachments'] as const) {
    const [first, second] = [before[key] ?? [], custom[key] ?? []];
    const items = [...first, ...second.map((item) => ({ ...item, index: item.index + first.length }))];
    if (items.length > 0) Object.assign(joined, { [key]: items });
  }
  return joined;
}

function shiftStage(index: string, time: StageTime, offset: number): [number, StageTime] {
  const { within } = time;
  return [Number(index) + offset, within === undefined ? time : { ...time, within: within + offset }];
}
