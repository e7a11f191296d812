import { EventSplitter, EventTooLarge, eventData } from '#base/event-splitter.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import type { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { linger } from '../linger.ts';
import { toUpstreamFault } from '../send.ts';
import { toEventFault } from './to-fault.ts';

/** What reads the events of one reply. */
export interface EventReader {
  /** Whether the reply came to its own end. */
  readonly hasEnded: boolean;
  /** The frames that whole events mean, in order. Throws UpstreamFault behind those of the events before the fault. */
  take(events: string): Iterable<Frame>;
}

/** The events of a reply as frames, up to `message_stop`. A stream that closes without it, or brings an error event, is a fault. */
export async function* readEvents(body: AsyncIterable<string>, reader: EventReader): AsyncIterable<Frame> {
  const pieces = body[Symbol.asyncIterator]();
  const splitter = new EventSplitter();
  try {
    while (!reader.hasEnded) {
      const piece = await pieces.next();
      if (piece.done) {
        yield* reader.take(endMarkIn(splitter.rest));
        break;
      }
      yield* reader.take(splitter.push(piece.value));
    }
    if (!reader.hasEnded) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
  } catch (thrown) {
    if (thrown instanceof EventTooLarge)
      throw new UpstreamFault('broken', 'The upstream sent an event that is too large.', { cause: thrown });
    throw toUpstreamFault(thrown);
  } finally {
    if (reader.hasEnded) linger(pieces);
    else await pieces.return?.();
  }
}

/** Some upstreams close right behind the end mark, without its empty line. */
function endMarkIn(rest: string): string {
  const value = toEventValue(rest);
  return isJsonObject(value) && value.type === 'message_stop' ? `${rest.trimEnd()}\n\n` : '';
}

/** The event that begins there, its empty line included. */
export function firstEvent(events: string, from: number): string {
  const end = events.indexOf('\n\n', from);
  return events.slice(from, end === -1 ? events.length : end + 2);
}

/** What an event says: its value, or the fault it tells of or is; undefined for one without data. */
export function toEventValue(event: string): JsonObject | UpstreamFault | undefined {
  const [data] = eventData(event);
  if (data === undefined || data.trim() === '') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamFault('broken', 'The upstream sent an event that is no JSON object.');
  return value.type === 'error' ? toEventFault(value.error) : value;
}
