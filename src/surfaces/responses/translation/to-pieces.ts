import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Delta, ToolCallDelta } from '#contract/chat/chunk.ts';

/** A fragment of one item of an output. */
export type Piece =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string; readonly block?: JsonObject }
  | {
      readonly kind: 'call';
      readonly index: number;
      readonly id?: string;
      /** Whether it came as `function_call`, which has no id. */
      readonly isFunctionCall?: true;
      readonly name?: string;
      readonly text: string;
      readonly signed?: unknown;
    };

type CallPiece = Piece & { kind: 'call' };

/** What a delta of the compat wire adds to the output, in the order of the dialect: thoughts, text, calls. */
export function toPieces(delta: Delta): Piece[] {
  const pieces = toThoughts(delta);
  if (isText(delta.content)) pieces.push({ kind: 'text', text: delta.content });
  if (isText(delta.refusal)) pieces.push({ kind: 'refusal', text: delta.refusal });
  for (const call of delta.tool_calls ?? []) pieces.push(toCall(call));
  if (delta.function_call) pieces.push({ ...toCall({ index: 0, function: delta.function_call }), isFunctionCall: true });
  return pieces;
}

/** Thoughts come as plain text, or as blocks, which may be signed. A signed block repeats what came as text, or has it alone. */
function toThoughts({ reasoning_content, reasoning, thinking_blocks }: Delta): Piece[] {
  const blocks = Array.isArray(thinking_blocks) ? thinking_blocks.filter(isJsonObject) : [];
  const plain = [reasoning_content, reasoning].find(isText);
  const hasText = blocks.some(({ thinking }) => isText(thinking));
  const pieces: Piece[] = plain === undefined || hasText ? [] : [{ kind: 'thought', text: plain }];
  for (const block of blocks) {
    const { thinking, signature, data } = block;
    const isWhole = isText(signature) || isText(data);
    pieces.push({ kind: 'thought', text: isText(thinking) ? thinking : '', ...(isWhole && { block }) });
  }
  return pieces;
}

function toCall({ index, id, function: called, extra_content: signed }: ToolCallDelta & { extra_content?: unknown }): CallPiece {
  const { name, arguments: text = '' } = called ?? {};
  return { kind: 'call', index, ...(id && { id }), ...(name && { name }), text, ...(signed !== undefined && { signed }) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
