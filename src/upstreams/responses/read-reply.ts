import { eventAt } from '#base/event-splitter.ts';
import type { JsonObject } from '#base/json.ts';
import type { Sink } from '#base/sink.ts';
import { toLatin1 } from '#base/text-bytes.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toJsonObject } from '../reply-text.ts';
import type { EventReader, ReplyDialect } from '../upstream-reply.ts';
import { faultOfFailed, isEndMark, toEventValue } from './event-value.ts';
import { RelayedEvents } from './relayed-events.ts';
import { ResponseReader } from './response-reader.ts';
import { toCompletion } from './to-completion.ts';
import { toUsage } from './to-usage.ts';

/** How a refusal of OpenAI's APIs is read. */
export type ReadRefusal = ReplyDialect['readRefusal'];

/** A reply as frames of the compat wire. */
export function translatedReply(
  readRefusal: ReadRefusal,
  { createdSeconds, model }: { createdSeconds: number; model: string },
): ReplyDialect {
  return {
    readEvents: () => new TranslatedEvents(new ResponseReader(createdSeconds, model)),
    readWhole(bytes) {
      const completion = toCompletion(toResponse(bytes), createdSeconds);
      return Frame.ofRawCompletion(completion, toLatin1(JSON.stringify(completion)));
    },
    readRefusal,
  };
}

/** The same as it came, for a caller who speaks the dialect. */
export const relayedReply = (readRefusal: ReadRefusal): ReplyDialect => ({
  readEvents: () => new RelayedEvents(),
  readWhole(bytes) {
    const usage = toUsage(toResponse(bytes).usage);
    return Frame.ofNative(bytes, { dialect: 'responses', isWhole: true, isLast: true, textBytes: bytes.length, usage });
  },
  readRefusal,
});

class TranslatedEvents implements EventReader {
  readonly isEndMark = isEndMark;
  readonly #reader: ResponseReader;

  constructor(reader: ResponseReader) {
    this.#reader = reader;
  }

  get hasEnded(): boolean {
    return this.#reader.hasEnded;
  }

  take(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    for (let at = 0; at < events.length && !this.hasEnded; ) {
      const event = eventAt(events, at);
      at += event.length;
      const value = toEventValue(event);
      if (value instanceof UpstreamFault) throw value;
      const chunks = value === undefined ? [] : this.#reader.take(value);
      if (chunks.length > 0) reply.frame(Frame.ofChunks(...chunks));
    }
  }
}

function toResponse(bytes: string): JsonObject {
  const value = toJsonObject(bytes);
  if (value.status === 'failed') throw faultOfFailed(value);
  if (Array.isArray(value.output)) return value;
  throw new UpstreamFault('broken', 'The upstream answered with JSON that is no response.');
}
