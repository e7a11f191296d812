import { eventData } from '#base/event-splitter.ts';
import { isJsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/text-bytes.ts';
import type { ParleyError } from '#contract/errors.ts';
import type { ResponseEvent } from '#contract/responses/events.ts';
import { toErrorEvent, toResponseError } from './to-fault-events.ts';

/** What closes a stream that went on as it came, and broke off: it has the upstream's response, and goes on from its last number. */
export function endOfBroken({ first, last }: { first: string; last: string }, error: ParleyError): ResponseEvent[] {
  const opening = valuesOf(first).find(({ response }) => isJsonObject(response))?.response;
  const number = valuesOf(last).at(-1)?.sequence_number;
  const next = typeof number === 'number' ? number + 1 : 0;
  const failed = { ...(isJsonObject(opening) ? opening : {}), status: 'failed', error: toResponseError(error) };
  return [
    { ...toErrorEvent(error), sequence_number: next } as ResponseEvent,
    { type: 'response.failed', sequence_number: next + 1, response: failed } as unknown as ResponseEvent,
  ];
}

function valuesOf(events: string) {
  return eventData(events)
    .map((data) => tryParseJson(fromLatin1(data)))
    .filter(isJsonObject);
}
