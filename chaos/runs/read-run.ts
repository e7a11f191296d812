import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import type { Tally } from '../tally.ts';

/** A response whose ID its client received. */
export interface AcknowledgedRun {
  readonly id: string;
  readonly input: string;
}

interface RunEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
}

interface Response {
  readonly status: string;
  readonly error: { readonly code: string } | null;
  readonly output: readonly { readonly content?: readonly { readonly text?: string }[] }[];
}

const get = (url: string, path: string): Promise<TestResponse> =>
  sendRequest(url, { method: 'GET', path: `/v1/responses/${path}`, headers: { 'api-key': callerKey } });

/** Returns undefined if the node ended before it responded. */
export async function beginRun(url: string, input: string): Promise<AcknowledgedRun | undefined> {
  const body = { model: 'free', input, background: true };
  const answered = await sendRequest(url, { path: '/v1/responses', headers: withKey(), body }).catch(() => undefined);
  if (answered?.status !== 200) return undefined;
  return { id: (answered.json as { readonly id: string }).id, input };
}

/** Returns `absent` for a missing response. */
export async function readStatus(url: string, id: string): Promise<string> {
  const { status, json } = await get(url, id);
  return status === 200 ? (json as Response).status : 'absent';
}

/** Requires that a run is complete, or failed with an error, and that its events match. */
export async function checkRun(url: string, { id, input }: AcknowledgedRun, tally: Tally): Promise<void> {
  const { status, json, text } = await get(url, id);
  if (status !== 200) return tally.addFault(`lost: ${id} is ${status} ${text.slice(0, 200)}`);
  const response = json as Response;
  tally.count(response.status);
  if (response.status === 'failed')
    tally.require(response.error?.code === 'server_error', () => `${id} failed with ${JSON.stringify(response.error)}`);
  else tally.require(response.status === 'completed', () => `${id} is ${response.status}`);
  const { text: streamText } = await get(url, `${id}?stream=true`);
  requireEvents(streamText, response, (message) => tally.addFault(`${id}: ${message}`));
  const items = await get(url, `${id}/input_items`);
  tally.require(items.text.includes(input), () => `${id} has lost its input: ${items.status} ${items.text.slice(0, 200)}`);
}

function requireEvents(streamText: string, { status, output }: Response, reportFault: (text: string) => void): void {
  const events = [...streamText.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data) as RunEvent);
  if (events.some(({ sequence_number }, index) => sequence_number !== index))
    reportFault('its events are not numbered one by one');
  const ends = events.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
  if (ends.length !== 1 || ends[0] !== events.at(-1) || ends[0]?.type !== `response.${status}`)
    reportFault(`it is ${status}, and its events end with ${events.at(-1)?.type}`);
  if (!streamText.endsWith('data: [DONE]\n\n')) reportFault('its stream has no end mark');
  if (status !== 'completed') return;
  const streamedText = events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('');
  const text = output.flatMap(({ content = [] }) => content.map((part) => part.text ?? '')).join('');
  if (streamedText === '' || streamedText !== text)
    reportFault(`its events say ${streamedText.slice(0, 80)} and its output ${text.slice(0, 80)}`);
}
