import { eventData } from '#base/event-splitter.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toEventFault } from './to-fault.ts';

/** What an event says: its value, or the fault that it means or is; undefined for one without data. */
export function toEventValue(event: string): JsonObject | UpstreamFault | undefined {
  const [data] = eventData(event);
  if (data === undefined || data.trim() === '') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamFault('broken', 'The upstream sent an event that is no JSON object.');
  return value.type === 'error' ? toEventFault(value.error) : value;
}

/** Whether an event ends a reply. */
export function isMessageStop(event: string): boolean {
  const value = toEventValue(event);
  return isJsonObject(value) && value.type === 'message_stop';
}
