import { isJsonObject } from '#base/json/json.ts';

/** Returns the name of a list item at any depth. '' if there is none. */
export function itemName(item: unknown): string {
  if (!isJsonObject(item)) return '';
  if (typeof item.name === 'string') return item.name;
  const { open_ai_tool: tool } = item;
  return isJsonObject(tool) && isJsonObject(tool.function) && typeof tool.function.name === 'string' ? tool.function.name : '';
}
