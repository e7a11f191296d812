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
 * Finds the deltas of one block of a stream without parsing them. The deltas differ only in their text, so the bytes before the
 * text are learned once and compared. Some upstreams add spaces after the text to hide its length.
 */
export class DeltaRun {
  #prefix = '';
  /** Bytes of text in the last run. */
  textBytes = 0;

  /**
   * Returns the end of the run of such events that begins at `from`, or `from` if no run begins there. Adds the texts of the events
   * to `texts`, as the bytes of JSON strings without their quotes.
   */
  findRunEnd(events: string, from: number, texts?: string[]): number {
    this.textBytes = 0;
    const prefix = this.#prefix;
    if (prefix === '') return from;
    let position = from;
    while (events.slice(position, position + prefix.length) === prefix) {
      const start = position + prefix.length;
      const end = findClosing(events, start);
      const after = findEventEnd(events, end);
      if (after === -1) break;
      texts?.push(events.slice(start, end));
      this.textBytes += end - start;
      position = after;
    }
    return position;
  }

  /**
   * Uses an event, which must be a delta of this type, as the pattern of later events. Returns whether the event has the
   * required form.
   */
  learnPrefix(event: string, type: unknown): boolean {
    const key = keys.get(type);
    const keyStart = key === undefined ? -1 : event.indexOf(key);
    if (key === undefined || keyStart === -1) return false;
    const start = keyStart + key.length;
    if (findEventEnd(event, findClosing(event, start)) !== event.length) return false;
    // A slice would retain the entire string that was read from the connection.
    this.#prefix = Buffer.from(event.slice(0, start), 'latin1').toString('latin1');
    return true;
  }
}

/** Returns the end of the JSON string that contains `start`, or -1. A JSON string never has a line feed. */
function findClosing(text: string, start: number): number {
  const position = findStringEnd(text, start);
  return position === text.length || text.indexOf('\n', start) < position ? -1 : position;
}

/** Returns the end of the event whose text ends at `closed`. Returns -1 if the event has more fields after the text. */
function findEventEnd(text: string, closed: number): number {
  if (closed === -1 || text.slice(closed, closed + 2) !== '"}') return -1;
  let position = closed + 2;
  while (text.charCodeAt(position) === space) position += 1;
  return text.slice(position, position + 3) === '}\n\n' ? position + 3 : -1;
}

/**
 * Returns the value of an event, or the error that the event reports. An invalid event is an error. Returns undefined for an event
 * without data.
 */
export function toEventValue(event: string): JsonObject | UpstreamError | undefined {
  const namedError = findNamedError(event);
  if (namedError !== undefined) return namedError;
  const [data] = listEventData(event);
  if (data === undefined || data.trim() === '') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamError('broken', 'The upstream sent an event that is not a JSON object.');
  return findError(value) ?? (isJsonObject(value.delta) ? toEndError(value.delta) : undefined) ?? value;
}

/** Returns the error of a message that the upstream could not finish. */
export function toEndError({ stop_reason: reason }: JsonObject): UpstreamError | undefined {
  return isFailedReason(reason) ? createEndError(reason) : undefined;
}

/** Returns whether an event ends a reply. */
export function isMessageStop(event: string): boolean {
  const value = toEventValue(event);
  return isJsonObject(value) && value.type === 'message_stop';
}
