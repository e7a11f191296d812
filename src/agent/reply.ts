import { isJsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Chunk, Delta, FinishReason, ResponseAttachment, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import type { Attachment } from '#domain/tools/tool.ts';
import type { ToolCall } from './turn.ts';

/** Fields that all chunks of a reply share. */
export interface ReplyHead {
  readonly id: string;
  /** Deployment ID that the reply names as its `model`. */
  readonly deployment: string;
  readonly clock: Clock;
}

/** A reply in progress. Creates its chunks, and assigns indexes to its stages, attachments, and controls. */
export class Reply {
  readonly #head: ReplyHead;
  #stageCount = 0;
  #attachmentCount = 0;
  #controlCount = 0;

  constructor(head: ReplyHead) {
    this.#head = head;
  }

  createChunk(delta: Delta, finishReason: FinishReason | null = null): Chunk {
    return { ...this.createBareChunk(), choices: [{ index: 0, delta, finish_reason: finishReason }] };
  }

  /** Creates a chunk without choices, for usage and statistics. */
  createBareChunk(): Chunk {
    const { id, deployment: model, clock } = this.#head;
    return { id, object: 'chat.completion.chunk', created: Math.floor(clock.epochMs() / 1000), model, choices: [] };
  }

  /** Creates a stage that is already complete. */
  *createStage(name: string, content: string, status: 'completed' | 'failed'): Generator<Chunk, void> {
    const index = this.nextStage();
    yield this.createChunk({ custom_content: { stages: [{ index, name, status: null }] } });
    yield this.createChunk({ custom_content: { stages: [{ index, content, status }] } });
  }

  nextStage(): number {
    return this.#stageCount++;
  }

  nextAttachment(): number {
    return this.#attachmentCount++;
  }

  nextControl(): number {
    return this.#controlCount++;
  }

  numberAttachments(attachments: readonly Attachment[]): ResponseAttachment[] {
    return attachments.map((attachment) => ({ ...attachment, index: this.nextAttachment() }));
  }
}

/** Maps the indexes of one inner reply to those of the reply that contains it. */
export class Renumbering {
  readonly #reply: Reply;
  readonly #stages = new Map<unknown, number>();
  readonly #attachments = new Map<unknown, number>();
  readonly #controls = new Map<unknown, number>();
  readonly #openStages = new Set<number>();

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  renumberContent(inner: ResponseCustomContent): ResponseCustomContent {
    const { stages, attachments, controls, ...otherFields } = inner;
    return {
      ...otherFields,
      ...(Array.isArray(stages) && { stages: this.renumberStages(stages) }),
      ...(Array.isArray(attachments) && {
        attachments: attachments.filter(isJsonObject).map((item) => ({
          ...item,
          index: resolveIndex(this.#attachments, item.index, () => this.#reply.nextAttachment()),
        })),
      }),
      ...(Array.isArray(controls) && {
        controls: controls.filter(isJsonObject).map((item) => ({
          ...item,
          index: resolveIndex(this.#controls, item.index, () => this.#reply.nextControl()),
        })),
      }),
    };
  }

  renumberStages(inner: readonly StageDelta[]): StageDelta[] {
    return inner.filter(isJsonObject).map((stage) => {
      const isNew = !this.#stages.has(stage.index);
      const index = resolveIndex(this.#stages, stage.index, () => this.#reply.nextStage());
      if (stage.status) this.#openStages.delete(index);
      else if (isNew) this.#openStages.add(index);
      return { ...stage, index };
    });
  }

  /** Returns deltas that close the stages that the completed inner reply left open. */
  closeStages(status: 'completed' | 'failed'): StageDelta[] {
    const openIndexes = [...this.#openStages];
    this.#openStages.clear();
    return openIndexes.map((index) => ({ index, status }));
  }
}

function resolveIndex(indexes: Map<unknown, number>, innerIndex: unknown, nextIndex: () => number): number {
  const index = indexes.get(innerIndex) ?? nextIndex();
  indexes.set(innerIndex, index);
  return index;
}

/** Form in which the client receives calls: all of them as tool calls, or the first one as a function call. */
export type HandoverMode = 'all tools' | 'one function';

/**
 * Returns the end of a reply that returns calls to its client. Each call has its own delta, because some clients read only the
 * first call of a delta.
 */
export function toHandover(
  calls: readonly ToolCall[],
  handoverMode: HandoverMode,
): { readonly deltas: readonly Delta[]; readonly finishReason: FinishReason } {
  const [first] = calls;
  if (handoverMode === 'all tools' || first === undefined)
    return { deltas: calls.map((call, index) => ({ tool_calls: [{ ...call, index }] })), finishReason: 'tool_calls' };
  const { name, arguments: args } = first.function;
  return { deltas: [{ function_call: { name, arguments: args } }], finishReason: 'function_call' };
}

/** Returns the text with a paragraph break before it, unless the text before it is empty or ends in white space. */
export function asParagraph(before: string, text: string): string {
  return before === '' || /\s$/.test(before) ? text : `\n\n${text}`;
}
