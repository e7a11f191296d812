import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { StoredResponse } from './response-store.ts';

/** Prefixes of item IDs by type, as clients of the API know them. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  reasoning: 'rs',
  compaction: 'cmp',
  mcp_list_tools: 'mcpl',
  mcp_call: 'mcp',
  mcp_approval_request: 'mcpr',
  mcp_approval_response: 'mcpa',
};
/** Value of `include` with which clients request sealed reasoning. */
const sealedReasoning = 'reasoning.encrypted_content';
/** Type of the items that store state for the next turn and are hidden from clients. */
const stateType = 'parley:state';

/** Returns the items that the next turn continues: the input of a response, followed by its output. */
export function listItems({
  input,
  response,
  items,
}: Pick<StoredResponse, 'input' | 'response' | 'items'>): readonly JsonObject[] {
  const { output } = response;
  return [...input, ...(items ?? (Array.isArray(output) ? (output as JsonObject[]) : []))];
}

/** Returns the items of an interrupted response without incomplete calls, which have no output. */
export function listCarriedItems(stored: StoredResponse): readonly JsonObject[] {
  return listItems(stored).filter(({ type, status }) => status !== 'incomplete' || !String(type).endsWith('_call'));
}

export function isHiddenItem({ type }: JsonObject): boolean {
  return type === stateType;
}

/** Returns whether clients receive an item. An extension requires its name in `include`. */
export function isVisibleItem(item: JsonObject, include: ReadonlySet<string>): boolean {
  const { type } = item;
  const name = Object.hasOwn(extensions, String(type)) ? extensions[String(type)] : undefined;
  return !isHiddenItem(item) && (name === undefined || include.has(name));
}

/** Returns whether an output item already has its stored form. */
export function isStoredForm({ id, type, status, content }: JsonObject): boolean {
  return typeof id === 'string' && id !== '' && (type !== 'message' || (typeof status === 'string' && Array.isArray(content)));
}

/** Returns an item in the form for storage and lists: with an ID, and with message content as parts. */
export function toStoredItem(item: JsonObject, newId: () => string): JsonObject {
  const type = String(item.type);
  const clientId = typeof item.id === 'string' && item.id !== '' ? item.id : undefined;
  const id = clientId ?? `${idPrefixes[type] ?? 'item'}_${newId().replaceAll('-', '')}`;
  if (type === 'additional_tools' && Array.isArray(item.tools)) return { ...item, id, tools: item.tools.map(withoutCredentials) };
  if (type !== 'message') return { ...item, id };
  return { ...item, id, status: item.status ?? 'completed', content: toParts(item) };
}

/** Removes credentials for a server. Clients send them with each request, and Parley does not store them. */
function withoutCredentials(tool: JsonObject): JsonObject {
  const { authorization: _authorization, headers: _headers, ...otherFields } = tool;
  return tool.type === 'mcp' ? otherFields : tool;
}

function toParts({ role, content }: JsonObject): unknown {
  if (typeof content !== 'string') return content;
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [], logprobs: [] }]
    : [{ type: 'input_text', text: content }];
}

/** Returns an item in the form that its user receives. */
export function toVisibleItem(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  if (item.type !== 'reasoning' || include.has(sealedReasoning)) return toCompleteInputItem(item);
  const { encrypted_content: _sealed, ...visibleItem } = item;
  return visibleItem;
}

/** Values of `include` by item type. Clients must request these items by name. */
const extensions: Readonly<Record<string, string>> = {
  'parley:stage': 'parley:stages',
  'parley:attachment': 'parley:attachments',
  'parley:control': 'parley:controls',
};
const statistics = 'parley:statistics';

/** Returns a response as the client received it. Extensions and sealed reasoning are included only if `include` names them. */
export function toVisibleResponse(stored: StoredResponse, include: ReadonlySet<string>): JsonObject {
  const { items } = stored;
  const response = withoutExtensions(stored.response, include);
  const { output } = response;
  if (items === undefined || !Array.isArray(output) || !include.has(sealedReasoning)) return response;
  const encryptedContents = new Map(items.map((item) => [item.id, item.encrypted_content]));
  const visibleOutput = (output as JsonObject[]).map((item) => {
    const encrypted_content = item.type === 'reasoning' ? encryptedContents.get(item.id) : undefined;
    return encrypted_content === undefined ? item : { ...item, encrypted_content };
  });
  return { ...response, output: visibleOutput };
}

function withoutExtensions(response: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { output, parley, ...otherFields } = response;
  return {
    ...otherFields,
    ...(output !== undefined && {
      output: Array.isArray(output) ? (output as JsonObject[]).filter((item) => isVisibleItem(item, include)) : output,
    }),
    ...(parley !== undefined && include.has(statistics) && { parley }),
  };
}

const callTypes: ReadonlySet<unknown> = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

/** Returns an input item with the fields that the API guarantees, but that clients may omit. */
function toCompleteInputItem(item: JsonObject): JsonObject {
  const { type, content, output } = item;
  return {
    ...item,
    ...(callTypes.has(type) && { status: item.status ?? 'completed' }),
    ...(Array.isArray(content) && { content: content.map(toCompletePart) }),
    ...(Array.isArray(output) && { output: output.map(toCompletePart) }),
  };
}

function toCompletePart(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  if (part.type === 'input_image') return { ...part, image_url: part.image_url ?? null, detail: part.detail ?? 'auto' };
  if (part.type !== 'output_text') return part;
  return { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] };
}
