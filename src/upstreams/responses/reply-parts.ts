import type { JsonObject } from '#base/json/json.ts';

/** A call of a tool of either type, as the compat wire has it. */
export function toCall({ type, call_id: id, name, arguments: args, input }: JsonObject): JsonObject {
  return type === 'custom_tool_call'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: args } };
}

/** How likely each token was, if the upstream says so. */
export function toLogprobs(parts: readonly JsonObject[]): { readonly logprobs?: { readonly content: readonly unknown[] } } {
  const content = parts.flatMap(({ logprobs }) => (Array.isArray(logprobs) ? logprobs : []));
  return content.length > 0 ? { logprobs: { content } } : {};
}
