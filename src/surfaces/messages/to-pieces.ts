import { isJsonObject } from '#base/json/json.ts';
import type { Delta, FunctionCallDelta } from '#contract/chat/chunk.ts';
import { toFunctionCallId } from '#contract/chat/function-calling.ts';

/** A fragment of one block of a reply. */
export type Piece =
  | { readonly kind: 'text'; readonly key: string; readonly text: string }
  | { readonly kind: 'thinking'; readonly key: string; readonly text: string; readonly signature?: string }
  | { readonly kind: 'redacted_thinking'; readonly key: string; readonly data: string }
  | { readonly kind: 'tool_use'; readonly key: string; readonly id?: string; readonly name?: string; readonly text: string };

/** What a delta of the compat wire adds to the message, in the order of the dialect: thinking, text, tool calls. */
export function toPieces(delta: Delta, messageId: string): Piece[] {
  const text = [delta.content, delta.refusal].filter(isText).map((each): Piece => ({ kind: 'text', key: 'text', text: each }));
  return [...toThoughts(delta), ...text, ...toCalls(delta, messageId)];
}

/** Thinking comes as plain text, or as blocks, which may be signed. If both have the text, it is taken from the blocks. */
function toThoughts({ reasoning_content, reasoning, thinking_blocks }: Delta): Piece[] {
  const blocks = Array.isArray(thinking_blocks) ? thinking_blocks.filter(isJsonObject) : [];
  const plain = [reasoning_content, reasoning].find(isText);
  const isTold = blocks.some(({ thinking }) => isText(thinking));
  const pieces: Piece[] = plain === undefined || isTold ? [] : [toThought(plain)];
  for (const { type, thinking, signature, data } of blocks) {
    if (type === 'redacted_thinking' && isText(data)) pieces.push({ kind: 'redacted_thinking', key: `redacted ${data}`, data });
    else if (isText(thinking) || isText(signature)) pieces.push(toThought(isText(thinking) ? thinking : '', signature));
  }
  return pieces;
}

function toThought(text: string, signature?: unknown): Piece {
  return { kind: 'thinking', key: 'thinking', text, ...(isText(signature) && { signature }) };
}

function toCalls({ tool_calls, function_call }: Delta, messageId: string): Piece[] {
  const pieces = (tool_calls ?? []).map(({ index, id, function: called }) => toCall(`tool ${index}`, id, called));
  if (function_call) pieces.push(toCall('function', toFunctionCallId(messageId), function_call));
  return pieces;
}

function toCall(key: string, id: string | undefined, { name, arguments: text = '' }: FunctionCallDelta = {}): Piece {
  return { kind: 'tool_use', key, ...(id && { id }), ...(name && { name }), text };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
