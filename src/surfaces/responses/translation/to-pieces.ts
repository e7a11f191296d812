import { filterObjects, isNonEmptyText, type JsonObject } from '#base/json/json.ts';
import type { Delta, ToolCallDelta } from '#contract/chat/chunk.ts';

/** A fragment of one output item. */
export type Piece =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  /** `block` is a signed or redacted block, which is complete. */
  | { readonly kind: 'thought'; readonly text: string; readonly block?: JsonObject }
  | {
      readonly kind: 'call';
      readonly index: number;
      readonly id?: string;
      /** Whether the call arrived as `function_call`, which has no ID. */
      readonly isFunctionCall?: true;
      readonly name?: string;
      readonly text: string;
      /** Vendor signature of the call. */
      readonly signature?: unknown;
    };

type CallPiece = Piece & { kind: 'call' };

/** Returns the pieces of a chat completions delta in the order of the Responses API: reasoning, text, calls. */
export function toPieces(delta: Delta): Piece[] {
  const pieces = toThoughts(delta);
  if (isNonEmptyText(delta.content)) pieces.push({ kind: 'text', text: delta.content });
  if (isNonEmptyText(delta.refusal)) pieces.push({ kind: 'refusal', text: delta.refusal });
  for (const call of delta.tool_calls ?? []) pieces.push(toCall(call));
  if (delta.function_call) pieces.push({ ...toCall({ index: 0, function: delta.function_call }), isFunctionCall: true });
  return pieces;
}

/**
 * Converts reasoning, which arrives as plain text or as blocks that may be signed. A signed block may repeat the text of earlier
 * pieces.
 */
function toThoughts({ reasoning_content, reasoning, thinking_blocks }: Delta): Piece[] {
  const blocks = filterObjects(thinking_blocks);
  const plain = [reasoning_content, reasoning].find(isNonEmptyText);
  const hasText = blocks.some(({ thinking }) => isNonEmptyText(thinking));
  const pieces: Piece[] = plain === undefined || hasText ? [] : [{ kind: 'thought', text: plain }];
  for (const block of blocks) {
    const { thinking, signature, data } = block;
    const isComplete = isNonEmptyText(signature) || isNonEmptyText(data);
    pieces.push({ kind: 'thought', text: isNonEmptyText(thinking) ? thinking : '', ...(isComplete && { block }) });
  }
  return pieces;
}

function toCall({
  index,
  id,
  function: called,
  extra_content: signature,
}: ToolCallDelta & { extra_content?: unknown }): CallPiece {
  const { name, arguments: text = '' } = called ?? {};
  return { kind: 'call', index, ...(id && { id }), ...(name && { name }), text, ...(signature !== undefined && { signature }) };
}
