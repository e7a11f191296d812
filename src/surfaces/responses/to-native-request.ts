import type { JsonObject } from '#base/json.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { toMcpName } from './mcp-servers.ts';
import { isSealed } from './sealed-thoughts.ts';
import type { Conversing } from './to-messages.ts';

/** A request whose conversation is resolved here, for an upstream of the dialect: that keeps nothing, and is sent everything. */
export function toNativeRequest(
  body: JsonObject,
  { items, open, pathOf }: Pick<Conversing, 'open' | 'pathOf'> & { items: readonly AnyItem[] },
): JsonObject {
  const { previous_response_id: _previous, conversation: _conversation, background, include, ...rest } = body;
  const asked = (Array.isArray(include) ? include : []).filter((name) => !String(name).startsWith('parley:'));
  return {
    ...rest,
    ...(background === true && { stream: true }),
    input: items.flatMap((item) => toNativeItem(item, open, pathOf(item))),
    store: false,
    include: [...new Set([...asked, includables.encryptedReasoning])],
  };
}

/** Whether such an upstream can be sent the body as it came, and its answer is the caller's as it comes. */
export function isUntouched({ store, include = [] }: ResponsesRequest, items: readonly AnyItem[]): boolean {
  const isOurs = (name: string): boolean => name === includables.encryptedReasoning || name.startsWith('parley:');
  return store === false && !include.some(isOurs) && !items.some((item) => isSealed(item) || item.type.startsWith('parley:'));
}

/** Ids are those of what is stored here: an upstream that stores nothing knows none of them. */
function toNativeItem(item: AnyItem, open: Conversing['open'], at: string): object[] {
  const { type, id: _id, ...fields } = item as AnyItem & { id?: string };
  if (type.startsWith('parley:') || type === 'item_reference') return [];
  if (type.startsWith('mcp_')) return type === 'mcp_call' ? toMadeCall(item) : [];
  if (type !== 'reasoning' && type !== 'compaction') return [{ type, ...fields }];
  if (!isSealed(item)) return [];
  const { encrypted_content, summary } = open(item, at);
  if (summary !== undefined) return [{ type: 'message', role: 'user', content: summary }];
  return encrypted_content === undefined ? [] : [{ ...item, encrypted_content }];
}

/** A call that was made here is one of the caller's to an upstream. */
function toMadeCall(item: AnyItem): object[] {
  const { id: call_id, server_label, name, arguments: args, output, error } = item as JsonObject;
  return [
    { type: 'function_call', call_id, name: toMcpName(String(server_label), String(name)), arguments: args },
    { type: 'function_call_output', call_id, output: output ?? error ?? '' },
  ];
}
