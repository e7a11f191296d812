import { isJsonObject, type JsonObject } from '#base/json.ts';

const texts: ReadonlySet<unknown> = new Set(['response.output_text.delta', 'response.output_text.done']);

/** An event with the fields that its type demands, and that some servers of the dialect leave out. */
export function toWholeEvent(event: JsonObject): JsonObject {
  if (texts.has(event.type)) return { ...event, logprobs: event.logprobs ?? [] };
  if (isJsonObject(event.part)) return { ...event, part: toWholePart(event.part) };
  return event;
}

/** The same of an item of an output. */
export function toWholeItem(item: JsonObject): JsonObject {
  if (item.type !== 'message' || !Array.isArray(item.content)) return item;
  return { ...item, content: item.content.map((part) => (isJsonObject(part) ? toWholePart(part) : part)) };
}

/** The same of what a response used. */
export function toWholeUsage(usage: unknown): unknown {
  if (!isJsonObject(usage)) return usage;
  const { input_tokens_details: input, output_tokens_details: output } = usage;
  return {
    ...usage,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...(isJsonObject(input) && input) },
    output_tokens_details: { reasoning_tokens: 0, ...(isJsonObject(output) && output) },
  };
}

function toWholePart(part: JsonObject): JsonObject {
  return part.type === 'output_text' ? { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] } : part;
}
