import { eventAt, eventData } from '#base/event-splitter.ts';
import { isJsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import type { EventReader } from '../read-events.ts';
import { isSaid } from '../read-whole.ts';
import { TextEvents } from './text-events.ts';

const endMark = '[DONE]';

/** The events of a chat reply, up to `[DONE]`. Runs of plain text pass without being parsed. */
export class ChatEvents implements EventReader {
  readonly #text = new TextEvents();
  hasEnded = false;

  *take(events: string): Generator<Frame, void> {
    for (let at = 0; at < events.length && !this.hasEnded; ) {
      const end = this.#text.runEnd(events, at);
      if (end > at) {
        yield Frame.ofText(events.slice(at, end), this.#text.textBytes);
        at = end;
        continue;
      }
      const event = eventAt(events, at);
      const { bytes, isLast } = toDataOnly(event);
      this.hasEnded = isLast;
      if (bytes !== '') yield toFrame(bytes);
      this.#text.learn(event);
      at += event.length;
    }
  }

  isEndMark(event: string): boolean {
    return toDataOnly(event).isLast;
  }
}

/** One event without comments and fields other than data; nothing of the end mark, and of one without data. */
function toDataOnly(event: string): { bytes: string; isLast: boolean } {
  if (event.startsWith('data: {') && event.indexOf('\n') === event.length - 2) return { bytes: event, isLast: false };
  const [data] = eventData(event);
  if (data?.trim() === endMark) return { bytes: '', isLast: true };
  return { bytes: data === undefined || data.trim() === '' ? '' : toBytes(data), isLast: false };
}

/** An event of one line; a line feed in JSON is white space. */
function toBytes(data: string): string {
  return `data: ${data.replaceAll('\n', ' ')}\n\n`;
}

/** The frame of an event. Throws what an error event tells of. */
function toFrame(event: string): Frame {
  const value = tryParseJson(fromLatin1(eventData(event)[0] ?? ''));
  if (!isJsonObject(value)) throw new UpstreamFault('broken', 'The upstream sent an event that is not a JSON object.');
  const { choices, error } = value;
  if (error !== undefined && error !== null && !Array.isArray(choices)) throw toErrorFault(error);
  return Frame.ofEvent(event, value);
}

function toErrorFault(error: unknown): UpstreamFault {
  const { message, param, code } = isJsonObject(error) ? error : { message: error, param: null, code: null };
  const status = typeof code === 'number' ? code : undefined;
  return new UpstreamFault('refused', isSaid(message) ? message : 'The upstream sent an error.', {
    param: isSaid(param) ? param : null,
    code: isSaid(code) ? code : null,
    ...(status !== undefined && { status }),
  });
}
