import { isJsonObject, type JsonObject } from '#base/json.ts';

const calls: ReadonlySet<unknown> = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

/** An item of an input as it is listed: with what readers of the API expect of every item, and callers may leave out. */
export function toWholeInputItem(item: JsonObject): JsonObject {
  const { type, content, output } = item;
  return {
    ...item,
    ...(calls.has(type) && { status: item.status ?? 'completed' }),
    ...(Array.isArray(content) && { content: content.map(toWholePart) }),
    ...(Array.isArray(output) && { output: output.map(toWholePart) }),
  };
}

function toWholePart(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  if (part.type === 'input_image') return { ...part, image_url: part.image_url ?? null, detail: part.detail ?? 'auto' };
  if (part.type !== 'output_text') return part;
  return { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] };
}
