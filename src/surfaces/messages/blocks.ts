import { filterObjects, isNonEmptyText } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { CallArguments } from '#contract/chat/call-arguments.ts';
import type { Delta, FunctionCallDelta } from '#contract/chat/chunk.ts';
import { toFunctionCallId } from '#contract/chat/function-calling.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { BlockDelta, ContentBlock, MessageDeltaEvent, MessagesEvent, ParleyExtension } from '#contract/messages/dialect.ts';

const maxWaitingChars = 16 * 1024 * 1024;
/** Maximum length of the thinking text that a signed block may repeat. */
const maxThoughtChars = 16 * 1024 * 1024;
/** Memory overhead per waiting piece, in characters. */
const pieceOverheadChars = 100;
/** Maximum number of waiting blocks, because each piece may check all of them. */
const maxWaitingBlocks = 1_000;

interface OpenBlock {
  readonly key: string;
  readonly kind: Piece['kind'];
  readonly index: number;
  /** Arguments of the tool call so far. */
  readonly args: CallArguments;
  /** Thinking text so far. A signed block may repeat the complete text. */
  thought: string;
}

/** Pieces of a block that cannot start yet. */
interface WaitingBlock {
  readonly key: string;
  readonly pieces: Piece[];
  /** A tool call cannot start before its name is known. */
  canStart: boolean;
}

/**
 * Writes pieces as consecutive blocks. Pieces of several tool calls may be interleaved. Pieces of other blocks wait until the
 * arguments of the open tool call are complete.
 */
export class Blocks {
  readonly #toToolName: (name: string) => string;
  #openBlock: OpenBlock | undefined;
  #nextIndex = 0;
  readonly #waitingBlocks = new Set<WaitingBlock>();
  /** Waiting blocks that can still receive pieces. */
  readonly #growingBlocks = new Map<string, WaitingBlock>();
  #waitingChars = 0;
  readonly #endedTools = new Set<string>();
  #hasIncompleteCall = false;

  /** `toToolName` returns the client's name of a tool. */
  constructor(toToolName: (name: string) => string) {
    this.#toToolName = toToolName;
  }

  /** Index of the open block, if it is a text block and no other block waits. */
  get openTextIndex(): number | undefined {
    return this.#openBlock?.kind === 'text' && this.#waitingBlocks.size === 0 ? this.#openBlock.index : undefined;
  }

  /** Returns the events that a piece makes possible. */
  add(piece: Piece): MessageEvent[] {
    if (this.#endedTools.has(piece.key)) return [];
    if (this.#openBlock?.key !== piece.key) {
      this.#wait(piece);
      return this.#release(false);
    }
    return [...this.#continue(this.#openBlock, piece), ...this.#release(false)];
  }

  /**
   * Returns the remaining events and closes all blocks. Throws `upstream_failed` if a tool call is incomplete although the reply
   * is not truncated.
   */
  end(isTruncated: boolean): MessageEvent[] {
    const events = [...this.#release(true), ...this.#close()];
    if (this.#hasIncompleteCall && !isTruncated)
      throw new ParleyError('upstream_failed', 'The reply contains a tool call whose arguments are not a JSON object.');
    return events;
  }

  #wait(piece: Piece): void {
    let waiting = this.#growingBlocks.get(piece.key);
    if (waiting === undefined) {
      waiting = { key: piece.key, pieces: [], canStart: false };
      this.#waitingBlocks.add(waiting);
      this.#growingBlocks.set(piece.key, waiting);
    }
    waiting.pieces.push(piece);
    if (piece.kind !== 'tool_use' || piece.name !== undefined) waiting.canStart = true;
    if (isLastOfBlock(piece)) this.#growingBlocks.delete(piece.key);
    this.#waitingChars += pieceOverheadChars + ('text' in piece ? piece.text.length : 0);
    if (this.#waitingChars > maxWaitingChars || this.#waitingBlocks.size > maxWaitingBlocks)
      throw new ParleyError('upstream_failed', 'The reply interleaves too many or too large tool calls.');
  }

  /** Starts waiting blocks if the previous block may be closed. */
  #release(isLast: boolean): MessageEvent[] {
    const events: MessageEvent[] = [];
    for (const waiting of this.#waitingBlocks) {
      const { key, pieces, canStart } = waiting;
      if (!isLast && this.#openBlock?.kind === 'tool_use' && !this.#openBlock.args.isComplete) break;
      const block = canStart ? toBlock(pieces, this.#toToolName) : undefined;
      if (block === undefined) continue;
      this.#waitingBlocks.delete(waiting);
      if (this.#growingBlocks.get(key) === waiting) this.#growingBlocks.delete(key);
      events.push(...this.#close(), ...this.#start(key, block, pieces));
    }
    return events;
  }

  #start(key: string, block: ContentBlock, pieces: readonly Piece[]): MessageEvent[] {
    const open: OpenBlock = {
      key,
      kind: block.type as Piece['kind'],
      index: this.#nextIndex,
      args: new CallArguments(),
      thought: '',
    };
    this.#openBlock = open;
    this.#nextIndex += 1;
    const events: MessageEvent[] = [{ type: 'content_block_start', index: open.index, content_block: block }];
    for (const piece of pieces) events.push(...this.#continue(open, piece));
    return events;
  }

  #continue(open: OpenBlock, nextPiece: Piece): MessageEvent[] {
    const repeats = nextPiece.kind === 'thinking' && nextPiece.signature !== undefined && nextPiece.text === open.thought;
    const piece: Piece = repeats ? { ...nextPiece, text: '' } : nextPiece;
    if (piece.kind === 'thinking' && open.thought.length <= maxThoughtChars) open.thought += piece.text;
    if (piece.kind === 'tool_use') open.args.add(piece.text);
    const events = toDeltas(piece).map((delta): MessageEvent => ({ type: 'content_block_delta', index: open.index, delta }));
    if (isLastOfBlock(piece)) events.push(...this.#close());
    return events;
  }

  #close(): MessageEvent[] {
    const open = this.#openBlock;
    if (open === undefined) return [];
    this.#openBlock = undefined;
    if (open.kind === 'tool_use') {
      this.#endedTools.add(open.key);
      if (!open.args.isEmpty && !open.args.isComplete) this.#hasIncompleteCall = true;
    }
    return [{ type: 'content_block_stop', index: open.index }];
  }
}

/** A signature covers the complete block. Later thinking belongs to a new block. */
function isLastOfBlock(piece: Piece): boolean {
  return piece.kind === 'thinking' && piece.signature !== undefined;
}

/** Returns the empty block that the pieces start. Undefined for a tool call whose ID or name has not arrived yet. */
function toBlock(pieces: readonly Piece[], toToolName: (name: string) => string): ContentBlock | undefined {
  const [first] = pieces;
  switch (first?.kind) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: first.data };
    case 'tool_use': {
      const { id, name } = first;
      return id === undefined || name === undefined ? undefined : { type: 'tool_use', id, name: toToolName(name), input: {} };
    }
  }
  return undefined;
}

/** Returns the deltas that a piece adds to its block. */
function toDeltas(piece: Piece): BlockDelta[] {
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

/** A fragment of one block of a reply. */
type Piece =
  | { readonly kind: 'text'; readonly key: string; readonly text: string }
  | { readonly kind: 'thinking'; readonly key: string; readonly text: string; readonly signature?: string }
  | { readonly kind: 'redacted_thinking'; readonly key: string; readonly data: string }
  | { readonly kind: 'tool_use'; readonly key: string; readonly id?: string; readonly name?: string; readonly text: string };

/** Returns the pieces of a chat completions delta in the order of the dialect: thinking, text, tool calls. */
export function toPieces(delta: Delta, messageId: string): Piece[] {
  const text = [delta.content, delta.refusal]
    .filter(isNonEmptyText)
    .map((content): Piece => ({ kind: 'text', key: 'text', text: content }));
  return [...toThinkingPieces(delta), ...text, ...toCallPieces(delta, messageId)];
}

/**
 * Converts thinking, which arrives as plain text or as blocks that may be signed. If both contain the text, the blocks take
 * precedence.
 */
function toThinkingPieces({ reasoning_content, reasoning, thinking_blocks }: Delta): Piece[] {
  const blocks = filterObjects(thinking_blocks);
  const plain = [reasoning_content, reasoning].find(isNonEmptyText);
  const hasText = blocks.some(({ thinking }) => isNonEmptyText(thinking));
  const pieces: Piece[] = plain === undefined || hasText ? [] : [toThinkingPiece(plain)];
  for (const { type, thinking, signature, data } of blocks) {
    if (type === 'redacted_thinking' && isNonEmptyText(data))
      pieces.push({ kind: 'redacted_thinking', key: `redacted ${data}`, data });
    else if (isNonEmptyText(thinking) || isNonEmptyText(signature))
      pieces.push(toThinkingPiece(isNonEmptyText(thinking) ? thinking : '', signature));
  }
  return pieces;
}

function toThinkingPiece(text: string, signature?: unknown): Piece {
  return { kind: 'thinking', key: 'thinking', text, ...(isNonEmptyText(signature) && { signature }) };
}

function toCallPieces({ tool_calls, function_call }: Delta, messageId: string): Piece[] {
  const pieces = (tool_calls ?? []).map(({ index, id, function: called }) => toCallPiece(`tool ${index}`, id, called));
  if (function_call) pieces.push(toCallPiece('function', toFunctionCallId(messageId), function_call));
  return pieces;
}

function toCallPiece(key: string, id: string | undefined, { name, arguments: text = '' }: FunctionCallDelta = {}): Piece {
  return { kind: 'tool_use', key, ...(id && { id }), ...(name && { name }), text };
}

/** An event that clients ignore. It keeps the connection open, and can carry data without a counterpart in the dialect. */
export type PingEvent = { type: 'ping'; parley?: ParleyExtension };

/** An event that Parley creates. `parley` carries data without a counterpart in the dialect. */
export type MessageEvent = Exclude<MessagesEvent, { type: 'ping' } | MessageDeltaEvent> | MessageEnd | PingEvent;

type MessageEnd = MessageDeltaEvent & { parley?: ParleyExtension };

/**
 * Returns events that append pieces of text to a block. The pieces are already escaped for a JSON string, which has the same
 * syntax in both dialects.
 */
export function toTextEvents(pieces: readonly string[], index: number): string {
  const prefix = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"`;
  let bytes = '';
  for (const piece of pieces) if (piece !== '') bytes += `${prefix}${piece}"}}\n\n`;
  return bytes;
}

/** Returns one event of a stream as latin1 bytes. */
export function toNamedEvent(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${toLatin1(JSON.stringify(event))}\n\n`;
}
