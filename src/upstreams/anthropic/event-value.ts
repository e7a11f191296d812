import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { eventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { endedBy, faultIn, faultOfNamed, isFailedReason } from '../error-in-reply.ts';

/** What an event says: its value, or the fault that it means or is; undefined for one without data. */
export function toEventValue(event: string): JsonObject | UpstreamFault | undefined {
  const named = faultOfNamed(event);
  if (named !== undefined) return named;
  const [data] = eventData(event);
  if (data === undefined || data.trim() === '') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamFault('broken', 'The upstream sent an event that is no JSON object.');
  return faultIn(value) ?? (isJsonObject(value.delta) ? faultOfEnd(value.delta) : undefined) ?? value;
}

/** The fault of a message that its upstream could not finish. */
export function faultOfEnd({ stop_reason: reason }: JsonObject): UpstreamFault | undefined {
  return isFailedReason(reason) ? endedBy(reason) : undefined;
}

/** Whether an event ends a reply. */
export function isMessageStop(event: string): boolean {
  const value = toEventValue(event);
  return isJsonObject(value) && value.type === 'message_stop';
}
