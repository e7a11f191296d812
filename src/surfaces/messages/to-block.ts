import type { BlockDelta, ContentBlock } from '#contract/messages/dialect.ts';
import type { Piece } from './to-pieces.ts';

/** The block that pieces begin, empty; `newId` if a tool call has none. Undefined for a tool call whose name is not there yet. */
export function toBlock(pieces: readonly Piece[], newId: string, toToolName: (name: string) => string): ContentBlock | undefined {
  const [first] = pieces;
  switch (first?.kind) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: first.data };
    case 'tool_use': {
      const calls = pieces.filter((piece) => piece.kind === 'tool_use');
      const name = calls.find((call) => call.name !== undefined)?.name;
      const id = calls.find((call) => call.id !== undefined)?.id ?? newId;
      return name === undefined ? undefined : { type: 'tool_use', id, name: toToolName(name), input: {} };
    }
  }
  return undefined;
}

/** What a piece adds to its block. */
export function toDeltas(piece: Piece): BlockDelta[] {
  switch (piece.kind) {
    case 'text':
      return [{ type: 'text_delta', text: piece.text }];
    case 'tool_use':
      return piece.text === '' ? [] : [{ type: 'input_json_delta', partial_json: piece.text }];
    case 'thinking': {
      const deltas: BlockDelta[] = piece.text === '' ? [] : [{ type: 'thinking_delta', thinking: piece.text }];
      if (piece.signature !== undefined) deltas.push({ type: 'signature_delta', signature: piece.signature });
      return deltas;
    }
    case 'redacted_thinking':
      return [];
  }
}
