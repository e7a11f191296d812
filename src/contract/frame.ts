import { eventData } from '#base/event-splitter.ts';
import { isJsonObject, JsonFault, parseJson } from '#base/json.ts';
import { fromLatin1, toLatin1 } from '#base/latin1.ts';
import { type Chunk, type Completion, toChunk } from './chunk.ts';

/**
 * What travels up the line: whole events with the bytes they came in, parsed on first touch; what nobody touches is
 * forwarded byte for byte. One frame is what one read brought, so it may hold several events. An upstream that answered
 * in one JSON text is a frame that is a whole completion.
 */
export class Frame {
  /** Bytes of text, where every event is known to bring a piece of text of one choice and nothing else. */
  readonly textBytes: number | undefined;
  #bytes: string | undefined;
  #chunks: readonly Chunk[] | undefined;
  #completion: Completion | undefined;

  private constructor(parts: { bytes?: string; textBytes?: number; chunks?: readonly Chunk[]; completion?: Completion }) {
    this.textBytes = parts.textBytes;
    this.#bytes = parts.bytes;
    this.#chunks = parts.chunks;
    this.#completion = parts.completion;
  }

  /** Whole events as they came, latin1 text with LF line ends, no `[DONE]` among them. */
  static ofEvents(bytes: string): Frame {
    return new Frame({ bytes });
  }

  /** Events of which each is known to bring a piece of text of one choice and nothing else. */
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

  /** Of events: their bytes on the wire. Of a completion: its JSON text. Latin1, one char a byte. */
  get bytes(): string {
    this.#bytes ??= this.#completion ? toLatin1(JSON.stringify(this.#completion)) : (this.#chunks ?? []).map(toEvent).join('');
    return this.#bytes;
  }

  /** The events' chunks in order; a completion is one chunk. Throws JsonFault where an event is not JSON. */
  get chunks(): readonly Chunk[] {
    this.#chunks ??= this.#completion ? [toChunk(this.#completion)] : eventData(this.#bytes ?? '').map(toParsedChunk);
    return this.#chunks;
  }

  /** Whether the chunks are at hand without parsing. */
  get isParsed(): boolean {
    return this.#chunks !== undefined;
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

function toParsedChunk(data: string): Chunk {
  const value = parseJson(fromLatin1(data));
  if (!isJsonObject(value)) throw new JsonFault('an event is not a JSON object');
  const { choices } = value;
  if (!Array.isArray(choices)) value.choices = [];
  else if (!choices.every(isJsonObject)) value.choices = choices.filter(isJsonObject);
  return value as Chunk;
}
