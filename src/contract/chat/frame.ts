import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import { findStringEnd } from '#base/text/string-end.ts';
import { ParleyError } from '../errors/errors.ts';
import { type Chunk, type Completion, type RawChunk, type RawCompletion, toChunk, type Usage } from './chunk.ts';

/** Properties of the bytes of a relayed reply, which are in the dialect that the client and the upstream share. */
export interface Native {
  readonly dialect: 'messages' | 'responses';
  /** Whether the bytes are a complete reply in one JSON text, not events. */
  readonly isCompleteReply: boolean;
  /** Whether the reply ends with these bytes. */
  readonly isLast: boolean;
  /** Approximate number of bytes of text. */
  readonly textBytes: number;
  /** Token counts of the reply up to these bytes, in the form of chat completions. Undefined if these bytes contain no counts. */
  readonly usage: Usage | undefined;
}

/** Bytes around the text in each event of a frame. They are the same for all events. */
export interface TextSlot {
  /** From the first byte of the event to the quote that opens the text, inclusive. */
  readonly before: string;
  /** From the quote that closes the text to the last byte of the event. */
  readonly after: string;
}

interface FrameContent {
  bytes?: string;
  textBytes?: number;
  contentSlot?: TextSlot | undefined;
  chunks?: readonly RawChunk[];
  completion?: RawCompletion;
  native?: Native;
}

/**
 * A unit of a reply on its way from the upstream to the client: complete events with their original bytes. Unchanged events are
 * forwarded byte for byte. A frame can hold several events if each of them only adds text. These events are parsed on first use.
 * Every other event has a frame to itself.
 */
export class RawFrame {
  /** Number of bytes of text. Undefined unless every event only adds text, thoughts, or arguments of one choice. */
  readonly textBytes: number | undefined;
  /** Set if the bytes are in a dialect other than chat completions. The frame then has no chunks. */
  readonly native: Native | undefined;
  /** Set if the frame is a complete reply, because the upstream returned one JSON text. */
  readonly completion: RawCompletion | undefined;
  readonly #contentSlot: TextSlot | undefined;
  #bytes: string | undefined;
  #chunks: readonly RawChunk[] | undefined;

  private constructor(content: FrameContent) {
    this.textBytes = content.textBytes;
    this.native = content.native;
    this.#contentSlot = content.contentSlot;
    this.#bytes = content.bytes;
    this.#chunks = content.chunks;
    this.completion = content.completion;
  }

  /** Creates a frame for one event. `bytes` is latin1 text with LF line ends, and `value` is the parsed data. */
  static ofEvent(bytes: string, value: JsonObject): RawFrame {
    return new RawFrame({ bytes, chunks: [toRawChunk(value)] });
  }

  /**
   * Creates a frame for events that only add text, thoughts, or arguments of one choice. If a slot is given, the text is the
   * `content` of the first choice.
   */
  static ofText(bytes: string, textBytes: number, contentSlot?: TextSlot): RawFrame {
    return new RawFrame({ bytes, textBytes, contentSlot });
  }

  static ofRawChunks(...chunks: RawChunk[]): RawFrame {
    return new RawFrame({ chunks });
  }

  /** Creates a frame for a complete reply of an upstream. `bytes` is its JSON as latin1 text. */
  static ofRawCompletion(completion: RawCompletion, bytes: string): RawFrame {
    return new RawFrame({ completion, bytes });
  }

  static ofChunks(...chunks: Chunk[]): Frame {
    return new RawFrame({ chunks }) as Frame;
  }

  /** Creates a frame for a complete reply. `bytes`, if given, is its JSON as latin1 text. */
  static ofCompletion(completion: Completion, bytes?: string): Frame {
    return new RawFrame(bytes === undefined ? { completion } : { completion, bytes }) as Frame;
  }

  /** Creates a frame for complete events, or a complete reply, in the dialect of the client. `bytes` is latin1 text. */
  static ofNative(bytes: string, native: Native): Frame {
    return new RawFrame({ bytes, chunks: [], native }) as Frame;
  }

  /** The events as bytes, or the JSON text of a completion. The string is latin1: one character per byte. */
  get bytes(): string {
    this.#bytes ??= this.completion ? toLatin1(JSON.stringify(this.completion)) : (this.#chunks ?? []).map(toEvent).join('');
    return this.#bytes;
  }

  /** Approximate number of bytes, for limits. Does not serialize the frame. */
  get roughBytes(): number {
    return this.#bytes?.length ?? estimateSize(this.completion ?? this.#chunks);
  }

  /** Chunks of the events in order. A completion is one chunk. Throws `upstream_failed` if the text of an event is not JSON. */
  get chunks(): readonly RawChunk[] {
    this.#chunks ??= this.completion ? [toChunk(this.completion)] : listEventData(this.#bytes ?? '').map(toParsedChunk);
    return this.#chunks;
  }

  /**
   * Parts of the `content` of the first choice, escaped as in their JSON strings. Undefined unless the frame contains only this
   * content.
   */
  get contentPieces(): readonly string[] | undefined {
    return this.#contentSlot && listPieces(this.#bytes ?? '', this.#contentSlot);
  }
}

/** A frame whose chunks or complete reply have all fields that the format of chat completions requires. */
export interface Frame extends RawFrame {
  get chunks(): readonly Chunk[];
  readonly completion: Completion | undefined;
}

/**
 * The class `RawFrame`, under the name for validated frames.
 * @alias
 */
export const Frame = RawFrame;

export const endEvent = 'data: [DONE]\n\n';

/** Returns a value as an event of a stream, in latin1 bytes. */
export function toEvent(value: unknown): string {
  return `data: ${toLatin1(JSON.stringify(value))}\n\n`;
}

function listPieces(events: string, { before, after }: TextSlot): string[] {
  const pieces: string[] = [];
  for (let at = before.length; at <= events.length; ) {
    const end = findStringEnd(events, at);
    pieces.push(events.slice(at, end));
    at = end + after.length + before.length;
  }
  return pieces;
}

/** Text events can be parsed as late as the HTTP surface, which no longer knows the upstream, so the message does not name it. */
function toParsedChunk(data: string): RawChunk {
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) throw new ParleyError('upstream_failed', 'The answer is malformed: an event is not a JSON object.');
  return toRawChunk(value);
}

function toRawChunk(value: JsonObject): RawChunk {
  const { choices } = value;
  if (!Array.isArray(choices)) value.choices = [];
  else if (!choices.every(isJsonObject)) value.choices = choices.filter(isJsonObject);
  return value as RawChunk;
}

/** Returns the approximate number of characters of the JSON of a value, without escapes. */
function estimateSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 5;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + estimateSize(item), 2);
  let size = 2;
  for (const key in value) size += key.length + 3 + estimateSize((value as JsonObject)[key]);
  return size;
}

/** Throws `upstream_failed` if a relayed reply has another form than the client requested. */
export function requireForm({ isCompleteReply }: Native, requestedForm: 'complete' | 'streamed'): void {
  if (isCompleteReply === (requestedForm === 'complete')) return;
  const claim = isCompleteReply
    ? 'with a complete response instead of the requested stream'
    : 'with a stream that was not requested';
  throw new ParleyError('upstream_failed', `The upstream responded ${claim}.`);
}

/** Returns the data of the events that is a JSON object. Events are complete, as in the bytes of a streamed native frame. */
export function listEventObjects(events: string): JsonObject[] {
  return listEventData(events)
    .map((data) => tryParseJson(fromLatin1(data)))
    .filter(isJsonObject);
}
