import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import { findStringEnd } from '#base/text/string-end.ts';
import { ParleyError } from '../errors/errors.ts';
import { type Chunk, type Completion, type RawChunk, type RawCompletion, toChunk, type Usage } from './chunk.ts';

/** What is known of bytes that travel in the dialect that caller and upstream share. */
export interface Native {
  readonly dialect: 'messages' | 'responses';
  /** Whether they are a whole reply in one JSON text rather than events. */
  readonly isWhole: boolean;
  /** Whether the reply ends with them. */
  readonly isLast: boolean;
  /** Bytes of text among them, near enough for an estimate. */
  readonly textBytes: number;
  /** Token counts of the reply so far in the compat form, if these bytes have any. */
  readonly usage: Usage | undefined;
}

/** What stands around the piece of text in each event of a run, from the event's first byte to its last. */
export interface TextSlot {
  /** Up to and with the quote that opens the text. */
  readonly before: string;
  /** From the quote that closes it on. */
  readonly after: string;
}

/** What is known of the bytes of a frame. */
interface Content {
  bytes?: string;
  textBytes?: number;
  contentSlot?: TextSlot | undefined;
  chunks?: readonly RawChunk[];
  completion?: RawCompletion;
  native?: Native;
}

/**
 * What travels up the line: whole events with the bytes they came in; what nobody changes is forwarded byte for byte. Events
 * that are known to bring text only travel together and are parsed on first use, any other is a frame of its own. An
 * upstream that answered in one JSON text is a frame that is a whole completion. A frame with `native` holds no chunks: its
 * bytes are what the upstream sent in the caller's own dialect.
 */
export class RawFrame {
  /** Bytes of text, if every event is known to bring a piece of one choice's text, thoughts or arguments and nothing else. */
  readonly textBytes: number | undefined;
  /** Set if the bytes are of another dialect than the compat wire. */
  readonly native: Native | undefined;
  /** The whole reply, if the frame is one. */
  readonly completion: RawCompletion | undefined;
  readonly #contentSlot: TextSlot | undefined;
  #bytes: string | undefined;
  #chunks: readonly RawChunk[] | undefined;

  private constructor(content: Content) {
    this.textBytes = content.textBytes;
    this.native = content.native;
    this.#contentSlot = content.contentSlot;
    this.#bytes = content.bytes;
    this.#chunks = content.chunks;
    this.completion = content.completion;
  }

  /** One event as it came, latin1 text with LF line ends, and the value of its data. */
  static ofEvent(bytes: string, value: JsonObject): RawFrame {
    return new RawFrame({ bytes, chunks: [toRawChunk(value)] });
  }

  /**
   * Events of which each is known to bring a piece of one choice's text, thoughts or arguments and nothing else; with a slot,
   * that it is the first choice's `content`.
   */
  static ofText(bytes: string, textBytes: number, contentSlot?: TextSlot): RawFrame {
    return new RawFrame({ bytes, textBytes, contentSlot });
  }

  static ofRawChunks(...chunks: RawChunk[]): RawFrame {
    return new RawFrame({ chunks });
  }

  /** A whole reply as an upstream sent it; `bytes` is its JSON as latin1 text. */
  static ofRawCompletion(completion: RawCompletion, bytes: string): RawFrame {
    return new RawFrame({ completion, bytes });
  }

  static ofChunks(...chunks: Chunk[]): Frame {
    return new RawFrame({ chunks }) as Frame;
  }

  /** A whole reply; `bytes`, if given, is its JSON as latin1 text. */
  static ofCompletion(completion: Completion, bytes?: string): Frame {
    return new RawFrame(bytes === undefined ? { completion } : { completion, bytes }) as Frame;
  }

  /** Whole events, or a whole reply, as an upstream sent them in the dialect of the caller: latin1 text. */
  static ofNative(bytes: string, native: Native): Frame {
    return new RawFrame({ bytes, chunks: [], native }) as Frame;
  }

  /** Of events: their bytes on the wire. Of a completion: its JSON text. Latin1, one char a byte. */
  get bytes(): string {
    this.#bytes ??= this.completion ? toLatin1(JSON.stringify(this.completion)) : (this.#chunks ?? []).map(toEvent).join('');
    return this.#bytes;
  }

  /** How many bytes they are, near enough for a bound: none is written for it. */
  get roughBytes(): number {
    return this.#bytes?.length ?? roughSize(this.completion ?? this.#chunks);
  }

  /** The events' chunks in order; a completion is one chunk. Throws upstream_failed if the text of an event is not JSON. */
  get chunks(): readonly RawChunk[] {
    this.#chunks ??= this.completion ? [toChunk(this.completion)] : listEventData(this.#bytes ?? '').map(toParsedChunk);
    return this.#chunks;
  }

  /** The pieces of the first choice's `content`, each as it stands between the quotes of its JSON string, if the frame is known to bring nothing else. */
  get contentPieces(): readonly string[] | undefined {
    return this.#contentSlot && piecesIn(this.#bytes ?? '', this.#contentSlot);
  }
}

/** A frame whose chunks, or whole reply, are checked: they have all that the wire promises. */
export interface Frame extends RawFrame {
  get chunks(): readonly Chunk[];
  readonly completion: Completion | undefined;
}

/**
 * The same class, for those who make checked frames.
 * @alias
 */
export const Frame = RawFrame;

/** One event of a stream as latin1 bytes. */
export function toEvent(value: unknown): string {
  return `data: ${toLatin1(JSON.stringify(value))}\n\n`;
}

function piecesIn(events: string, { before, after }: TextSlot): string[] {
  const pieces: string[] = [];
  for (let at = before.length; at <= events.length; ) {
    const end = findStringEnd(events, at);
    pieces.push(events.slice(at, end));
    at = end + after.length + before.length;
  }
  return pieces;
}

/** A run of text may be parsed only at the surface, when nobody knows any more whose JSON it is. */
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

/** Chars of a value's JSON, escapes left out. */
function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 5;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + roughSize(item), 2);
  let size = 2;
  for (const key in value) size += key.length + 3 + roughSize((value as JsonObject)[key]);
  return size;
}
