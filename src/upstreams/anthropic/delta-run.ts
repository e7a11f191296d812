import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { findStringEnd } from '#base/text/string-end.ts';
import type { BlockDelta } from '#contract/messages/dialect.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { createEndError, findError, findNamedError, isFailedReason } from '../find-error.ts';

const space = 32;
const keys: ReadonlyMap<unknown, string> = new Map<BlockDelta['type'], string>([
  ['text_delta', '"text":"'],
  ['thinking_delta', '"thinking":"'],
  ['input_json_delta', '"partial_json":"'],
]);

/**
 * Knows the deltas of one block of a stream: piece after piece they differ only in the text they bring, so the bytes
 * before it are learned once and compared. Behind it may stand spaces, which some upstreams add to hide how long it is.
 */
export class DeltaRun {
  #prefix = '';
  /** Bytes of text in the run found last. */
  textBytes = 0;

  /**
   * Where the run of such events that begins here ends; `from` itself if none begins. Its texts are added to `pieces`, as
   * the bytes of JSON strings without their quotes.
   */
  read(events: string, from: number, pieces?: string[]): number {
    this.textBytes = 0;
    const prefix = this.#prefix;
    if (prefix === '') return from;
    let position = from;
    while (events.slice(position, position + prefix.length) === prefix) {
      const start = position + prefix.length;
      const end = findClosing(events, start);
      const after = findEventEnd(events, end);
      if (after === -1) break;
      pieces?.push(events.slice(start, end));
      this.textBytes += end - start;
      position = after;
    }
    return position;
  }

  /** Takes an event that is known to be a delta of that type as the pattern of those to come; returns whether it is of that form. */
  learn(event: string, type: unknown): boolean {
    const key = keys.get(type);
    const keyStart = key === undefined ? -1 : event.indexOf(key);
    if (key === undefined || keyStart === -1) return false;
    const start = keyStart + key.length;
    if (findEventEnd(event, findClosing(event, start)) !== event.length) return false;
    // A slice would keep the whole read it was cut from.
    this.#prefix = Buffer.from(event.slice(0, start), 'latin1').toString('latin1');
    return true;
  }
}

/** Where the JSON string that goes on here is closed. A line feed in it is no JSON: the string then ends nowhere. */
function findClosing(text: string, start: number): number {
  const position = findStringEnd(text, start);
  return position === text.length || text.indexOf('\n', start) < position ? -1 : position;
}

/** Where the event ends whose text is closed here and that has nothing else behind it; -1 if it has. */
function findEventEnd(text: string, closed: number): number {
  if (closed === -1 || text.slice(closed, closed + 2) !== '"}') return -1;
  let position = closed + 2;
  while (text.charCodeAt(position) === space) position += 1;
  return text.slice(position, position + 3) === '}\n\n' ? position + 3 : -1;
}

/** What an event says: its value, or the fault that it means or is; undefined for one without data. */
export function toEventValue(event: string): JsonObject | UpstreamError | undefined {
  const namedError = findNamedError(event);
  if (namedError !== undefined) return namedError;
  const [data] = listEventData(event);
  if (data === undefined || data.trim() === '') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamError('broken', 'The upstream sent an event that is no JSON object.');
  return findError(value) ?? (isJsonObject(value.delta) ? toEndError(value.delta) : undefined) ?? value;
}

/** The fault of a message that its upstream could not finish. */
export function toEndError({ stop_reason: reason }: JsonObject): UpstreamError | undefined {
  return isFailedReason(reason) ? createEndError(reason) : undefined;
}

/** Whether an event ends a reply. */
export function isMessageStop(event: string): boolean {
  const value = toEventValue(event);
  return isJsonObject(value) && value.type === 'message_stop';
}
