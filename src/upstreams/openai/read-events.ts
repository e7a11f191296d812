import { EventSplitter, EventTooLarge, eventData } from '#base/event-splitter.ts';
import { isJsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { linger } from '../linger.ts';
import { isSaid } from '../read-whole.ts';
import { toUpstreamFault } from '../send.ts';
import { TextEvents } from './text-events.ts';

const endMark = '[DONE]';

/** The events of a chat reply as frames, up to `[DONE]`. A stream that closes without it, or brings an error event, is a fault. */
export async function* readEvents(body: AsyncIterable<string>): AsyncIterable<Frame> {
  const pieces = body[Symbol.asyncIterator]();
  const splitter = new EventSplitter();
  const text = new TextEvents();
  let hasEnded = false;
  try {
    while (!hasEnded) {
      const piece = await pieces.next();
      if (piece.done) {
        requireEndMark(splitter.rest);
        hasEnded = true;
        break;
      }
      const events = splitter.push(piece.value);
      for (let at = 0; at < events.length && !hasEnded; ) {
        const end = text.runEnd(events, at);
        if (end > at) {
          yield Frame.ofText(events.slice(at, end), text.textBytes);
          at = end;
          continue;
        }
        const event = eventAt(events, at);
        const { bytes, isLast } = toDataOnly(event);
        hasEnded = isLast;
        if (bytes !== '') yield toFrame(bytes);
        text.learn(event);
        at += event.length;
      }
    }
  } catch (thrown) {
    if (thrown instanceof EventTooLarge)
      throw new UpstreamFault('broken', 'The upstream sent an event that is too large.', { cause: thrown });
    throw toUpstreamFault(thrown);
  } finally {
    if (hasEnded) linger(pieces);
    else await pieces.return?.();
  }
}

/** One event with its empty line; what is left where there is no other, such as an empty line too many. */
function eventAt(events: string, at: number): string {
  const end = events.indexOf('\n\n', at);
  return events.slice(at, end === -1 ? events.length : end + 2);
}

/** Some upstreams close right behind the end mark, without its empty line. */
function requireEndMark(rest: string): void {
  if (!toDataOnly(rest).isLast) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
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
