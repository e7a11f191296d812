import { eventAt, eventData } from '#base/event-splitter.ts';
import { isJsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import type { Sink } from '#base/sink.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { faultIn, faultOfNamed } from '../error-in-reply.ts';
import type { EventReader } from '../upstream-reply.ts';
import { requireDeltas } from './reply-shape.ts';
import { TextEvents } from './text-events.ts';

const endMark = '[DONE]';
const endEvent = `data: ${endMark}\n\n`;
/** What stands around the data of an event of one line. */
const dataStart = 'data: '.length;
const lineEnds = 2;

/** The events of a chat reply, up to `[DONE]`. Runs of plain text pass without being parsed. */
export class ChatEvents implements EventReader {
  readonly #text = new TextEvents();
  hasEnded = false;

  take(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    for (let at = 0; at < events.length && !this.hasEnded; ) {
      const end = this.#text.runEnd(events, at);
      if (end > at) {
        reply.frame(Frame.ofText(events.slice(at, end), this.#text.textBytes, this.#text.contentSlot));
        at = end;
        continue;
      }
      const event = eventAt(events, at);
      const { bytes, isLast } = toDataOnly(event);
      this.hasEnded = isLast;
      at += event.length;
      if (bytes === '') continue;
      const frame = toFrame(bytes);
      if (bytes === event) this.#text.learn(event, frame.chunks);
      reply.frame(frame);
    }
  }

  isEndMark(event: string): boolean {
    return toDataOnly(event).isLast;
  }
}

/** One event without comments and fields other than data; nothing of the end mark, and of one without data. Throws the fault that its name means. */
function toDataOnly(event: string): { bytes: string; isLast: boolean } {
  if (event === endEvent) return { bytes: '', isLast: true };
  if (event.startsWith('data: {') && event.indexOf('\n') === event.length - 2) return { bytes: event, isLast: false };
  const named = faultOfNamed(event);
  if (named !== undefined) throw named;
  const [data] = eventData(event);
  if (data?.trim() === endMark) return { bytes: '', isLast: true };
  return { bytes: data === undefined || data.trim() === '' ? '' : toBytes(data), isLast: false };
}

/** An event of one line; a line feed in JSON is white space. */
function toBytes(data: string): string {
  return `data: ${data.replaceAll('\n', ' ')}\n\n`;
}

/** The frame of an event of one line. Throws the fault that an error event means. */
function toFrame(event: string): RawFrame {
  const value = tryParseJson(fromLatin1(event.slice(dataStart, -lineEnds)));
  if (!isJsonObject(value)) throw new UpstreamFault('broken', 'The upstream sent an event that is not a JSON object.');
  const fault = faultIn(value);
  if (fault !== undefined) throw fault;
  requireDeltas(value);
  return Frame.ofEvent(event, value);
}
