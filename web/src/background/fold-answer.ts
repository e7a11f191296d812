import { filterObjects, isJsonObject, type JsonObject, toText } from '#base/json/json.ts';
import type { FinishReason, ResponseAttachment, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import type { Reply } from '../conversation/conversation.ts';
import type { AnswerDetails, AnswerState } from './background-answers.ts';

const replyStates: Readonly<Record<AnswerState, Reply['state']>> = {
  ...{ queued: 'running', in_progress: 'running', completed: 'done' },
  ...{ incomplete: 'done', failed: 'failed', cancelled: 'stopped' },
};

/** Builds the output items of a response from its stream events. */
export class AnswerFold {
  readonly #items = new Map<number, JsonObject>();

  add(event: JsonObject): void {
    const { type, output_index: index, delta, item } = event;
    if (typeof index !== 'number') return;
    if ((type === 'response.output_item.added' || type === 'response.output_item.done') && isJsonObject(item))
      this.#items.set(index, item);
    if (typeof delta !== 'string') return;
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') this.#appendText(index, 'message', delta);
    if (type === 'response.reasoning_summary_text.delta') this.#appendText(index, 'reasoning', delta);
  }

  /** Items of the events so far, in order. */
  get items(): readonly JsonObject[] {
    return [...this.#items].sort(([left], [right]) => left - right).map(([, item]) => item);
  }

  #appendText(index: number, type: string, delta: string): void {
    const text = this.#items.get(index)?.partialText;
    this.#items.set(index, { type, partialText: toText(text) + delta });
  }
}

/** Converts a response to the reply of a chat. While it is in progress, `items` replace its output. */
export function toReply(answer: AnswerDetails, items: readonly JsonObject[] = answer.output): Reply {
  const { id, model, status, error, incomplete_details: incomplete, usage, created_at, completed_at } = answer;
  const thoughts = items.filter(({ type }) => type === 'reasoning').map(getText);
  const call = items.findLast(({ type }) => type === 'function_call');
  const finish: FinishReason | undefined =
    incomplete === null || incomplete === undefined ? undefined : toFinish(incomplete.reason);
  return {
    ...{ kind: 'reply', id, parent: 'question', deployment: model, state: replyStates[status], stageTimes: {}, responseId: id },
    atMs: created_at * 1000,
    ...(typeof completed_at === 'number' && { endedAtMs: completed_at * 1000 }),
    text: items
      .filter(({ type }) => type === 'message')
      .map(getText)
      .filter(Boolean)
      .join('\n\n'),
    custom: toCustom(items),
    ...(thoughts.some(Boolean) && { thoughts: thoughts.filter(Boolean).join('\n\n') }),
    ...(call !== undefined && { functionCall: { name: String(call.name) } }),
    ...(finish !== undefined && { finish }),
    ...(usage && {
      usage: { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens, total_tokens: usage.total_tokens },
    }),
    ...(status === 'failed' && { fault: { status: 200, code: error?.code ?? 'server_error', message: error?.message ?? '' } }),
  };
}

/** Returns the text of an item: its partial text, its content, or its summary. */
export function getText({ partialText, content, summary }: JsonObject): string {
  if (typeof partialText === 'string') return partialText;
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content : Array.isArray(summary) ? summary : [];
  const texts = parts.filter(isJsonObject).map(({ text, refusal }) => text ?? refusal);
  return texts.filter((text) => typeof text === 'string').join('\n\n');
}

function toFinish(reason: string): FinishReason {
  return reason === 'content_filter' ? reason : 'length';
}

function toCustom(items: readonly JsonObject[]): ResponseCustomContent {
  const attachments = items.filter(({ type }) => type === 'parley:attachment').map(toAttachment);
  const stages = items.filter(({ type }) => type === 'parley:stage').map(toStage);
  return { ...(attachments.length > 0 && { attachments }), ...(stages.length > 0 && { stages }) };
}

function toAttachment({ type: _type, id: _id, content_type, ...fields }: JsonObject, index: number): ResponseAttachment {
  return { index, ...fields, ...(typeof content_type === 'string' && { type: content_type }) } as ResponseAttachment;
}

function toStage({ name, content, status, attachments }: JsonObject, index: number): StageDelta {
  const stageAttachments = filterObjects(attachments).map(toAttachment);
  const ended = status === 'completed' || status === 'failed' ? { status } : {};
  return { index, name: String(name), content: String(content), attachments: stageAttachments, ...ended } as StageDelta;
}
