import { requestFault } from '#contract/request-fault.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';

const outputs: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
};
const calls: ReadonlySet<string> = new Set(Object.values(outputs));

/** Every call has its output behind it, and every output its call ahead of it. Throws invalid_request with the place of the first that has not. */
export function checkCalls(items: readonly AnyItem[], pathOf: (item: AnyItem) => string): void {
  const waiting = new Map<string, AnyItem>();
  for (const item of items) {
    const { type, call_id: id } = item as { type: string; call_id?: string };
    if (id === undefined) continue;
    const asked = outputs[type];
    if (calls.has(type)) {
      if (waiting.has(id)) throw unanswered(waiting.get(id) ?? item, id, pathOf);
      waiting.set(id, item);
    } else if (asked !== undefined) {
      if (waiting.get(id)?.type !== asked)
        throw requestFault(`${pathOf(item)}.call_id`, `is ${shown(id)}, and no ${asked} ahead of it has that id`);
      waiting.delete(id);
    }
  }
  for (const [id, item] of waiting) throw unanswered(item, id, pathOf);
}

function unanswered(item: AnyItem, id: string, pathOf: (item: AnyItem) => string): Error {
  return requestFault(`${pathOf(item)}.call_id`, `is ${shown(id)}, and no output of that call follows`);
}

function shown(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
}
