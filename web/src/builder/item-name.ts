import { isJsonObject } from '#base/json/json.ts';

/** What an item of a list calls itself, however deep its name stands; '' for nothing. */
export function itemName(item: unknown): string {
  if (!isJsonObject(item)) return '';
  if (typeof item.name === 'string') return item.name;
  const { open_ai_tool: tool } = item;
  return isJsonObject(tool) && isJsonObject(tool.function) && typeof tool.function.name === 'string' ? tool.function.name : '';
}
