import { expect } from 'vitest';
import { tryParseJson } from '#base/json/json.ts';
import { EventSplitter, listEventData } from '#base/stream/event-splitter.ts';
import { callerKey } from '#test/start-service.ts';

/** An event of a run: a chunk, an error, or the run at its end. */
export interface RunEvent {
  readonly sequence_number?: number;
  readonly choices?: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
  readonly usage?: { readonly total_tokens: number };
  readonly error?: { readonly code: string; readonly message: string; readonly type: string };
  readonly object?: string;
  readonly status?: string;
}

interface RunRequest {
  readonly url: string;
  readonly id: string;
  readonly key?: string;
}

const toHeaders = (key = callerKey) => ({ 'api-key': key, 'content-type': 'application/json' });

export function startRun(
  { url, id, key }: RunRequest,
  content: string,
  fields: object = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/chat-runs/${id}`, {
    method: 'POST',
    headers: toHeaders(key),
    body: JSON.stringify({ model: 'slow', stream: true, messages: [{ role: 'user', content }], ...fields }),
    ...(signal && { signal }),
  });
}

export function followRun({ url, id, key }: RunRequest, after?: number): Promise<Response> {
  const query = after === undefined ? '' : `?starting_after=${after}`;
  return fetch(`${url}/v1/chat-runs/${id}${query}`, { headers: toHeaders(key) });
}

export async function cancelRun({ url, id, key }: RunRequest): Promise<{ readonly status: number; readonly body: RunEvent }> {
  const response = await fetch(`${url}/v1/chat-runs/${id}/cancel`, { method: 'POST', headers: toHeaders(key) });
  return { status: response.status, body: (await response.json()) as RunEvent };
}

export async function deleteRun({ url, id, key }: RunRequest): Promise<number> {
  return (await fetch(`${url}/v1/chat-runs/${id}`, { method: 'DELETE', headers: toHeaders(key) })).status;
}

/** Reads the events up to the end of the stream, or until one meets the condition. Then the client disconnects. */
export async function readEvents(
  response: Response,
  isLast: (event: RunEvent) => boolean = () => false,
): Promise<readonly RunEvent[]> {
  expect(response.status).toBe(200);
  const splitter = new EventSplitter();
  const decoder = new TextDecoder();
  const events: RunEvent[] = [];
  for await (const bytes of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    for (const data of listEventData(splitter.push(decoder.decode(bytes, { stream: true })))) {
      if (data === '[DONE]') continue;
      events.push(tryParseJson(data) as RunEvent);
      if (isLast(events.at(-1) as RunEvent)) return events;
    }
  }
  return events;
}

export const getText = (events: readonly RunEvent[]): string =>
  events.map(({ choices }) => choices?.[0]?.delta.content ?? '').join('');

/** Checks that the events are numbered without gaps from `first`, and end with the status. */
export function expectComplete(events: readonly RunEvent[], status: string, first = 0): void {
  expect(events.at(-1)).toMatchObject({ object: 'chat.run', status });
  const numbers = events.slice(0, -1).map(({ sequence_number }) => sequence_number);
  expect(numbers).toEqual(numbers.map((_number, nth) => first + nth));
}
