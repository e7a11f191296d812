import { isJsonObject, type JsonObject } from '#base/json.ts';
import { cleaned, mapField, mapItems, withoutEmptyList, withoutNulls } from '../without-nulls.ts';

/** Fields of the parts of a request whose null stands for absence. */
const nullable = {
  tool: new Set(['type', 'description', 'input_schema', 'cache_control']),
  tool_choice: new Set(['name', 'disable_parallel_tool_use']),
  thinking: new Set(['budget_tokens', 'display']),
  output_config: new Set(['effort', 'format']),
  metadata: new Set(['user_id']),
  message: new Set(['parley']),
  block: new Set(['cache_control', 'citations', 'title', 'context', 'is_error']),
  tool_result: new Set(['cache_control', 'content', 'is_error']),
};

/** The body without what says nothing: optional fields that are null (`optional` are those of the body itself), and an empty list of tools. */
export function withoutAbsent(value: JsonObject, optional: ReadonlySet<string>): unknown {
  let body: unknown = withoutEmptyList(withoutNulls(value, optional), ['tools', 'tool_choice']);
  for (const part of ['tool_choice', 'thinking', 'output_config', 'metadata'] as const)
    body = mapField(body, part, (given) => cleaned(given, nullable[part]));
  body = mapField(body, 'tools', (tools) => mapItems(tools, (tool) => cleaned(tool, nullable.tool)));
  body = mapField(body, 'system', cleanBlocks);
  return mapField(body, 'messages', (messages) => mapItems(messages, cleanMessage));
}

function cleanMessage(message: unknown): unknown {
  return mapField(cleaned(message, nullable.message), 'content', cleanBlocks);
}

function cleanBlocks(blocks: unknown): unknown {
  return mapItems(blocks, cleanBlock);
}

function cleanBlock(block: unknown): unknown {
  const isResult = isJsonObject(block) && block.type === 'tool_result';
  const clean = cleaned(block, isResult ? nullable.tool_result : nullable.block);
  return isResult ? mapField(clean, 'content', cleanBlocks) : clean;
}
