import { eventData } from '#base/event-splitter.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1, toLatin1 } from '#base/latin1.ts';
import { type Chunk, type Completion, toChunk, type Usage } from './chunk.ts';
import { ParleyError } from './errors.ts';

/** What is known of bytes that travel in the dialect that caller and upstream share. */
export interface Native {
  readonly dialect: 'messages';
  /** Whether they are a whole reply in one JSON text rather than events. */
  readonly isWhole: boolean;
  /** Whether the reply ends with them. */
  readonly isLast: boolean;
  /** Bytes of text among them, near enough for an estimate. */
  readonly textBytes: number;
  /** Token counts of the reply so far in the compat form, where these bytes tell any. */
  readonly usage: Usage | undefined;
}

interface Parts {
  bytes?: string;
  textBytes?: number;
  chunks?: readonly Chunk[];
  completion?: Completion;
  native?: Native;
}

/**
 * What travels up the line: whole events with the bytes they came in; what nobody changes is forwarded byte for byte. Events
 * that are known to bring text only travel together and are parsed on first touch, any other is a frame of its own. An
 * upstream that answered in one JSON text is a frame that is a whole completion. A frame with `native` holds no chunks: its
 * bytes are what the upstream sent in the caller's own dialect.
 */
export class Frame {
  /** Bytes of text, where every event is known to bring a piece of one choice's text, thoughts or arguments and nothing else. */
  readonly textBytes: number | undefined;
  /** Set where the bytes are of another dialect than the compat wire. */
  readonly native: Native | undefined;
  #bytes: string | undefined;
  #chunks: readonly Chunk[] | undefined;
  #completion: Completion | undefined;

  private constructor(parts: Parts) {
    this.textBytes = parts.textBytes;
    this.native = parts.native;
    this.#bytes = parts.bytes;
    this.#chunks = parts.chunks;
    this.#completion = parts.completion;
  }

  /** One event as it came, latin1 text with LF line ends, and the value of its data. */
  static ofEvent(bytes: string, value: JsonObject): Frame {
    return new Frame({ bytes, chunks: [asChunk(value)] });
  }

  /** Events of which each is known to bring a piece of one choice's text, thoughts or arguments and nothing else. */
  static ofText(bytes: string, textBytes: number): Frame {
    return new Frame({ bytes, textBytes });
  }

  static ofChunks(...chunks: Chunk[]): Frame {
    return new Frame({ chunks });
  }

  /** A whole reply; `bytes`, where given, is its JSON as latin1 text. */
  static ofCompletion(completion: Completion, bytes?: string): Frame {
    return new Frame(bytes === undefined ? { completion } : { completion, bytes });
  }

  /** Whole events, or a whole reply, as an upstream sent them in the dialect of the caller: latin1 text. */
  static ofNative(bytes: string, native: Native): Frame {
    return new Frame({ bytes, chunks: [], native });
  }

  /** Of events: their bytes on the wire. Of a completion: its JSON text. Latin1, one char a byte. */
  get bytes(): string {
    this.#bytes ??= this.#completion ? toLatin1(JSON.stringify(this.#completion)) : (this.#chunks ?? []).map(toEvent).join('');
    return this.#bytes;
  }

  /** The events' chunks in order; a completion is one chunk. Throws upstream_failed where the text of an event is not JSON. */
  get chunks(): readonly Chunk[] {
    this.#chunks ??= this.#completion ? [toChunk(this.#completion)] : eventData(this.#bytes ?? '').map(toParsedChunk);
    return this.#chunks;
  }

  /** The whole reply, where the frame is one. */
  get completion(): Completion | undefined {
    return this.#completion;
  }
}

/** One event of a stream as latin1 bytes. */
export function toEvent(value: unknown): string {
  return `data: ${toLatin1(JSON.stringify(value))}\n\n`;
}

/** Whoever touches a run of text first may be at the surface, where nobody can tell any more whose JSON it is. */
function toParsedChunk(data: string): Chunk {
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) throw new ParleyError('upstream_failed', 'The answer is malformed: an event is not a JSON object.');
  return asChunk(value);
}

function asChunk(value: JsonObject): Chunk {
  const { choices } = value;
  if (!Array.isArray(choices)) value.choices = [];
  else if (!choices.every(isJsonObject)) value.choices = choices.filter(isJsonObject);
  return value as Chunk;
}
