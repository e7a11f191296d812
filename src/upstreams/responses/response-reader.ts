import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Chunk, ChunkChoice, Delta, FinishReason } from '#contract/chat/chunk.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { isEnd, toCall, toLogprobs, toUsage } from './reply-values.ts';

const maxCalls = 10_000;

type Head = Pick<Chunk, 'id' | 'object' | 'created'> & { readonly model: string };

/** Translates the events of one streamed response to chunks. Nothing an upstream sends is trusted: what has another form is ignored. */
export class ResponseReader {
  #head: Head;
  #hasBegun = false;
  hasEnded = false;
  /** Numbers of calls, by the ids of their items. */
  readonly #calls = new Map<unknown, number>();
  readonly #withArguments = new Set<unknown>();

  constructor(createdSeconds: number, model: string) {
    this.#head = { id: '', object: 'chat.completion.chunk', created: createdSeconds, model };
  }

  /** The chunks that an event means, in order. */
  take(event: JsonObject): Chunk[] {
    switch (event.type) {
      case 'response.created':
        this.#begin(event.response);
        return [];
      case 'response.output_text.delta':
        return isText(event.delta) ? this.#tell({ content: event.delta }, null, toLogprobs([event])) : [];
      case 'response.refusal.delta':
        return this.#says({ refusal: event.delta });
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#says({ reasoning_content: event.delta });
      case 'response.reasoning_summary_part.added':
        return event.summary_index === 0 ? [] : this.#says({ reasoning_content: '\n\n' });
      case 'response.output_text.annotation.added':
        return this.#cite(event.annotation);
      case 'response.output_item.added':
        return isJsonObject(event.item) ? this.#open(event.item) : [];
      case 'response.output_item.done':
        return isJsonObject(event.item) ? this.#callCustom(event.item) : [];
      case 'response.function_call_arguments.delta':
        return this.#arguments(event.item_id, event.delta);
      case 'response.function_call_arguments.done':
        return this.#withArguments.has(event.item_id) ? [] : this.#arguments(event.item_id, event.arguments);
      default:
        return isEnd(event) && isJsonObject(event.response) ? this.#end(event.response) : [];
    }
  }

  #begin(response: unknown): void {
    if (!isJsonObject(response)) return;
    const { id, model, created_at: created } = response;
    this.#head = {
      ...this.#head,
      ...(isText(id) && { id }),
      ...(isText(model) && { model }),
      ...(typeof created === 'number' && { created: Math.floor(created) }),
    };
  }

  #open({ type, id, call_id, name }: JsonObject): Chunk[] {
    if (type !== 'function_call') return [];
    const index = this.#nextCall(id);
    const called = { name: isText(name) ? name : '', arguments: '' };
    return this.#tell({
      tool_calls: [{ index, ...(isText(call_id) && { id: call_id }), type: 'function', function: called }],
    });
  }

  /** Nobody needs half of the text that such a tool is given. */
  #callCustom(item: JsonObject): Chunk[] {
    if (item.type !== 'custom_tool_call' || !isText(item.name) || typeof item.input !== 'string') return [];
    const index = this.#nextCall(item.id);
    return this.#tell({ tool_calls: [{ index, ...toCall(item) }] });
  }

  #nextCall(item: unknown): number {
    if (this.#calls.size >= maxCalls) throw new UpstreamFault('broken', `The upstream asked for more than ${maxCalls} calls.`);
    const index = this.#calls.size;
    this.#calls.set(item, index);
    return index;
  }

  #arguments(item: unknown, json: unknown): Chunk[] {
    const index = this.#calls.get(item);
    if (index === undefined || !isText(json)) return [];
    this.#withArguments.add(item);
    return this.#tell({ tool_calls: [{ index, function: { arguments: json } }] });
  }

  #cite(annotation: unknown): Chunk[] {
    if (!isJsonObject(annotation) || annotation.type !== 'url_citation') return [];
    const { type, ...url_citation } = annotation;
    return this.#tell({ annotations: [{ type, url_citation }] });
  }

  /** The reason and the counts come last: a reply that breaks off must not look whole. */
  #end(response: JsonObject): Chunk[] {
    this.hasEnded = true;
    const usage = toUsage(response.usage);
    const ending = this.#tell({}, toFinishReason(response, this.#calls.size > 0));
    return usage === undefined ? ending : [...ending, { ...this.#head, choices: [], usage }];
  }

  #says(delta: Delta): Chunk[] {
    return Object.values(delta).every(isText) ? this.#tell(delta) : [];
  }

  #tell(delta: Delta, finish_reason: FinishReason | null = null, more: object = {}): Chunk[] {
    const chunk = (choice: Pick<ChunkChoice, 'delta' | 'finish_reason'>): Chunk => ({
      ...this.#head,
      choices: [{ index: 0, ...choice }],
    });
    const role = this.#hasBegun ? [] : [chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null })];
    this.#hasBegun = true;
    return [...role, chunk({ delta, finish_reason, ...more })];
  }
}

/** Why a response ended, in words of the compat wire. */
export function toFinishReason({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): FinishReason {
  if (status === 'incomplete') return isJsonObject(details) && details.reason === 'content_filter' ? 'content_filter' : 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
