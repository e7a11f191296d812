import { isJsonObject, type JsonObject, toText, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { type Frame, listEventObjects } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { OutputItem } from '#contract/responses/output-items.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResultItem } from '#services/responses/response-storage.ts';
import type { ReplyEnd, ReplyReader } from './reply-reader.ts';
import type { HiddenContent } from './sealed-thoughts.ts';

const firstEventTypes: ReadonlySet<unknown> = new Set(['response.created', 'response.queued', 'response.in_progress']);
const lastEventTypes: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

interface RelayedReplyOptions {
  readonly seal: (thoughts: HiddenContent) => string;
  readonly showsSealed: boolean;
}

/**
 * Converts the reply of a Responses API upstream to Parley's own response. Parley stores the state, and seals content that the
 * upstream encrypted.
 */
export class RelayedReplyReader implements ReplyReader {
  readonly #options: RelayedReplyOptions;
  /** Final response of the upstream. */
  #response: JsonObject | undefined;
  readonly #items: ResultItem[] = [];
  readonly #openItems = new OpenItems();
  /** Sealed content by the upstream's encrypted content. */
  readonly #sealed = new Map<string, string>();

  constructor(options: RelayedReplyOptions) {
    this.#options = options;
  }

  consume(frame: Frame): readonly UnnumberedEvent[] {
    if (frame.native?.isCompleteReply === true) {
      this.#conclude(tryParseJson(fromLatin1(frame.bytes)));
      return [];
    }
    const events: UnnumberedEvent[] = [];
    for (const value of listEventObjects(frame.bytes)) this.#consumeEvent(value, events);
    return events;
  }

  consumeText(): undefined {}

  end(): ReplyEnd {
    if (this.#response === undefined)
      throw new ParleyError('upstream_failed', 'The upstream ended the reply without a complete response.');
    return { events: [], fields: this.#response as Partial<ResponseObject>, items: this.#items };
  }

  endEarly(): ReplyEnd {
    for (const item of this.#openItems.listIncomplete()) this.#items.push(this.#toSealed(toCompleteItem(item)) as ResultItem);
    const output = this.#items.map((item) => this.#toVisible(item)) as OutputItem[];
    return { events: [], fields: { output }, items: this.#items };
  }

  /** Adds the events for an event of the upstream. Skips the first and last events of the response, which Parley creates. */
  #consumeEvent(value: JsonObject, events: UnnumberedEvent[]): void {
    const { type, item, sequence_number: _number, ...fields } = value;
    if (firstEventTypes.has(type)) return;
    if (lastEventTypes.has(type)) return this.#conclude(value.response);
    if (typeof type !== 'string') return;
    this.#openItems.consume(value);
    if (!isJsonObject(item)) {
      events.push(toCompleteEvent({ type, ...fields }) as unknown as UnnumberedEvent);
      return;
    }
    const sealed = this.#toSealed(toCompleteItem(item));
    if (type === 'response.output_item.done') this.#items.push(sealed as ResultItem);
    events.push({ type, ...fields, item: this.#toVisible(sealed) } as UnnumberedEvent);
  }

  #conclude(response: unknown): void {
    if (!isJsonObject(response) || !Array.isArray(response.output)) return;
    const items = response.output.filter(isJsonObject).map((item) => this.#toSealed(toCompleteItem(item)));
    this.#items.splice(0, this.#items.length, ...(items as ResultItem[]));
    const usage = toCompleteUsage(response.usage);
    this.#response = { ...response, output: items.map((item) => this.#toVisible(item)), ...(usage !== undefined && { usage }) };
  }

  /** Returns an item with sealed content. Seals each text once, because an item occurs in its own event and in the response. */
  #toSealed(item: JsonObject): JsonObject {
    const { encrypted_content: encrypted } = item;
    if (typeof encrypted !== 'string' || encrypted === '') return item;
    let sealed = this.#sealed.get(encrypted);
    if (sealed === undefined) {
      sealed = this.#options.seal({ encrypted_content: encrypted });
      this.#sealed.set(encrypted, sealed);
    }
    return { ...item, encrypted_content: sealed };
  }

  #toVisible(item: JsonObject): JsonObject {
    if (this.#options.showsSealed || item.type !== 'reasoning' || item.encrypted_content === undefined) return item;
    const { encrypted_content: _sealed, ...visibleItem } = item;
    return visibleItem;
  }
}

/**
 * Fields that events extend by a `delta`, by the type of the event. With `list`, the field belongs to a part in this list of
 * the item.
 */
const growingFields: ReadonlyMap<unknown, { readonly field: string; readonly list?: PartList }> = new Map([
  ['response.output_text.delta', { field: 'text', list: 'content' }],
  ['response.refusal.delta', { field: 'refusal', list: 'content' }],
  ['response.reasoning_text.delta', { field: 'text', list: 'content' }],
  ['response.reasoning_summary_text.delta', { field: 'text', list: 'summary' }],
  ['response.function_call_arguments.delta', { field: 'arguments' }],
  ['response.custom_tool_call_input.delta', { field: 'input' }],
]);
/** Lists of an item that events extend by a part, by the type of the event. */
const growingLists: ReadonlyMap<unknown, PartList> = new Map([
  ['response.content_part.added', 'content'],
  ['response.reasoning_summary_part.added', 'summary'],
]);
type PartList = 'content' | 'summary';

/** Items of a stream that have started but not ended, with the parts that have arrived. */
class OpenItems {
  /** Copies of the items by `output_index`. */
  readonly #items = new Map<unknown, JsonObject>();

  consume(event: JsonObject): void {
    const { type, item, output_index: index, part, delta } = event;
    if (type === 'response.output_item.added' && isJsonObject(item)) this.#items.set(index, structuredClone(item));
    else if (type === 'response.output_item.done') this.#items.delete(index);
    const open = this.#items.get(index);
    if (open === undefined) return;
    const list = growingLists.get(type);
    if (list !== undefined && isJsonObject(part)) getParts(open, list).push({ ...part });
    const growing = growingFields.get(type);
    if (growing === undefined || typeof delta !== 'string') return;
    const position = Number(event[`${growing.list}_index`] ?? 0);
    const target = growing.list === undefined ? open : getParts(open, growing.list)[position];
    if (isJsonObject(target)) target[growing.field] = toText(target[growing.field]) + delta;
  }

  /** Returns the items, except messages without content. */
  listIncomplete(): readonly JsonObject[] {
    return [...this.#items.values()]
      .filter(({ content }) => !Array.isArray(content) || content.length > 0)
      .map((item) => ({ ...item, status: 'incomplete' }));
  }
}

/** Returns the parts of an item, which can be extended. */
function getParts(item: JsonObject, list: PartList): unknown[] {
  const parts: unknown[] = Array.isArray(item[list]) ? item[list] : [];
  item[list] = parts;
  return parts;
}

const textEventTypes: ReadonlySet<unknown> = new Set(['response.output_text.delta', 'response.output_text.done']);

/** Adds required fields that some Responses API servers omit from events. */
function toCompleteEvent(event: JsonObject): JsonObject {
  if (textEventTypes.has(event.type)) return { ...event, logprobs: event.logprobs ?? [] };
  if (isJsonObject(event.part)) return { ...event, part: toCompletePart(event.part) };
  return event;
}

/** Adds required fields that some servers omit from output items. */
function toCompleteItem(item: JsonObject): JsonObject {
  if (item.type !== 'message' || !Array.isArray(item.content)) return item;
  return { ...item, content: item.content.map((part) => (isJsonObject(part) ? toCompletePart(part) : part)) };
}

/** Adds required fields that some servers omit from usage. */
function toCompleteUsage(usage: unknown): unknown {
  if (!isJsonObject(usage)) return usage;
  const { input_tokens_details: input, output_tokens_details: output } = usage;
  return {
    ...usage,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...(isJsonObject(input) && input) },
    output_tokens_details: { reasoning_tokens: 0, ...(isJsonObject(output) && output) },
  };
}

function toCompletePart(part: JsonObject): JsonObject {
  return part.type === 'output_text' ? { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] } : part;
}
