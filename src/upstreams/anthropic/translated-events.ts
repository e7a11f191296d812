import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { getEventAt } from '#base/stream/event-splitter.ts';
import type { Sink } from '#base/stream/sink.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import type { EventReader } from '../upstream-reply.ts';
import { DeltaRun, isMessageStop, toEventValue } from './delta-run.ts';
import type { MessageReader } from './message-reader.ts';

type Reply = Pick<Sink<RawFrame>, 'frame'>;

/** Bytes before and after each text of a run in a chat completions event. */
interface Slot {
  readonly block: unknown;
  readonly before: string;
  readonly after: string;
}

const noSlot: Slot = { block: undefined, before: '', after: '' };

/**
 * Translates events to chat completions frames. A run of deltas is written without being parsed, because a JSON string is the
 * same in both dialects. The role is held back until a later event, so that an immediate error is the first item.
 */
export class TranslatedEvents implements EventReader {
  readonly isEndMark = isMessageStop;
  readonly #reader: MessageReader;
  readonly #run = new DeltaRun();
  #slot = noSlot;
  #chunks: Chunk[] = [];
  #isOpening = true;

  constructor(reader: MessageReader) {
    this.#reader = reader;
  }

  get hasEnded(): boolean {
    return this.#reader.hasEnded;
  }

  readEvents(events: string, reply: Reply): void {
    for (let position = 0; position < events.length && !this.hasEnded; ) {
      const texts: string[] = [];
      const end = this.#run.findRunEnd(events, position, texts);
      if (end > position) {
        this.#flush(reply);
        reply.frame(this.#createFrame(texts));
        position = end;
        continue;
      }
      const event = getEventAt(events, position);
      position += event.length;
      const value = toEventValue(event);
      if (value instanceof UpstreamError) {
        this.#flush(reply);
        throw value;
      }
      if (value !== undefined) this.#readEvent(event, value);
    }
    this.#flush(reply);
  }

  #readEvent(event: string, value: JsonObject): void {
    this.#chunks.push(...this.#reader.readEvent(value));
    if (value.type !== 'message_start' && value.type !== 'ping') this.#isOpening = false;
    if (value.type === 'content_block_delta') this.#learnTemplate(event, value);
  }

  #flush(reply: Reply): void {
    if (this.#isOpening || this.#chunks.length === 0) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    reply.frame(Frame.ofChunks(...chunks));
  }

  #createFrame(texts: readonly string[]): RawFrame {
    const { block, before, after } = this.#slot;
    if (this.#run.textBytes > 0) this.#reader.recordPassed(block, () => toText(texts.join('')));
    let bytes = '';
    for (const text of texts) bytes += before + text + after;
    return Frame.ofText(bytes, this.#run.textBytes);
  }

  #learnTemplate(event: string, { index, delta }: JsonObject): void {
    const type = isJsonObject(delta) ? delta.type : undefined;
    const template = this.#getTemplate(type, index);
    if (template === undefined || !this.#run.learnPrefix(event, type)) return;
    const head = toLatin1(JSON.stringify(this.#reader.head)).slice(0, -1);
    this.#slot = {
      block: index,
      before: `data: ${head},"choices":[{"index":0,"delta":{${template[0]}"`,
      after: `"${template[1]}},"finish_reason":null}]}\n\n`,
    };
  }

  /** Returns the JSON around the text in a compat delta. */
  #getTemplate(type: unknown, index: unknown): readonly [before: string, after: string] | undefined {
    if (type === 'text_delta') return ['"content":', ''];
    if (type === 'thinking_delta') return ['"reasoning_content":', ''];
    const call = this.#reader.getCallIndex(index);
    return call === undefined ? undefined : [`"tool_calls":[{"index":${call},"function":{"arguments":`, '}}]'];
  }
}

function toText(json: string): string {
  return String(tryParseJson(`"${fromLatin1(json)}"`) ?? '');
}
