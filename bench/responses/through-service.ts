import type { ServiceDeps } from '#app/service/service-deps.ts';
import { jsonReply, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { measure, report, Timings } from './timings.ts';

type ResponseStores = NonNullable<ServiceDeps['responses']>;

interface StoredIds {
  readonly toId: (index: number) => string;
  /** Number of responses of the caller. */
  readonly ownCount: number;
}

const key = 'bench-key';
const warmUp = 500;
const answersPerForm = 2_000;
/** Pause of a stream in milliseconds, like a model that reasons. */
const restMs = 15;
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const message = { role: 'assistant', content: 'Hello!' };
const completion = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage },
  choices: [{ index: 0, message, finish_reason: 'stop' }],
};

/** The time at which the upstream started to send the end of its answer. */
interface UpstreamTimes {
  endAtMs: number;
}

/** Replies immediately, complete or in eight chunks. The last chunk follows after a pause. */
async function answerImmediately(exchange: UpstreamExchange, sending: UpstreamTimes): Promise<void> {
  if (exchange.received.body.stream !== true) {
    sending.endAtMs = performance.now();
    await jsonReply(completion)(exchange);
    return;
  }
  const chunk = (delta: object, fields: object = {}): object => ({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta, finish_reason: null, ...fields }],
  });
  exchange.head();
  await exchange.events(chunk({ role: 'assistant', content: 'Hello' }));
  for (let index = 0; index < 6; index += 1) await exchange.events(chunk({ content: ` ${index}` }));
  await new Promise((resolve) => setTimeout(resolve, restMs));
  sending.endAtMs = performance.now();
  await exchange.events(chunk({}, { finish_reason: 'stop' }), { ...chunk({}), choices: [], usage });
  exchange.done();
}

async function withService(
  responses: ResponseStores,
  work: (service: TestService, sending: UpstreamTimes) => Promise<void>,
): Promise<void> {
  const sending = { endAtMs: 0 };
  const upstream = await startScriptedUpstream((exchange) => answerImmediately(exchange, sending));
  const models = { m: { upstreams: [{ endpoint: upstream.endpoint, key: 'k' }] } };
  const service = await startService({ models, keys: { [key]: { project: 'bench' } } }, { responses });
  try {
    await work(service, sending);
  } finally {
    await service.close();
    await upstream.close();
  }
}

/** Measures API calls through the service with all stored responses, one after the other. */
export function measureCalls(responses: ResponseStores, { toId, ownCount }: StoredIds): Promise<void> {
  return withService(responses, async (service) => {
    const send = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const headers = body === undefined ? { 'api-key': key } : withKey(key);
      const answered = await service.sendRequest({ method, path: `/v1${path}`, headers, ...(body !== undefined && { body }) });
      if (answered.status !== 200) throw new Error(`${method} ${path}: ${answered.status} ${answered.text}`);
      return answered.json as Record<string, unknown>;
    };
    const pickId = (sample: number): string => toId((sample * 389) % ownCount);
    const createdIds: string[] = [];
    await measure('GET /v1/responses/{id}', (sample) => send('GET', `/responses/${pickId(sample)}`));
    await measure('GET …/input_items, a chain of up to 10', (sample) => send('GET', `/responses/${pickId(sample)}/input_items`));
    await measure('POST with previous_response_id', async (sample) => {
      const body = { model: 'm', input: 'And now?', previous_response_id: pickId(sample) };
      createdIds.push(String((await send('POST', '/responses', body)).id));
    });
    await measure('the same with store: false', (sample) =>
      send('POST', '/responses', { model: 'm', input: 'And now?', previous_response_id: pickId(sample), store: false }),
    );
    await measure('DELETE /v1/responses/{id}', (sample) => send('DELETE', `/responses/${createdIds[sample]}`));
    const { id } = await send('POST', '/conversations', {});
    const items = [{ role: 'user', content: 'Hello' }];
    await measure('POST …/conversations/{id}/items', () => send('POST', `/conversations/${id}/items`, { items }));
    await measure('GET …/conversations/{id}/items', () => send('GET', `/conversations/${id}/items`));
  });
}

/**
 * Measures the same call alternately with and without storing: the time to the first byte, and from the last upstream bytes to
 * the end.
 */
export function measureAnswers(responses: ResponseStores): Promise<void> {
  return withService(responses, async ({ url }, sending) => {
    const time = (body: object) => timeAnswer(url, body, sending);
    const complete = await timeAlternately(time, false);
    printTimings(
      'one JSON text, its last byte',
      complete.map(({ last }) => last),
    );
    const streams = await timeAlternately(time, true);
    printTimings(
      'a stream, its first byte',
      streams.map(({ first }) => first),
    );
    printTimings(
      'a stream, its last byte',
      streams.map(({ last }) => last),
    );
  });
}

/** Returns the timings of answers without and with storing. */
async function timeAlternately(
  time: (body: object) => ReturnType<typeof timeAnswer>,
  stream: boolean,
): Promise<readonly ReturnType<typeof toTimings>[]> {
  const timings = [toTimings(), toTimings()];
  for (let sample = -warmUp; sample < answersPerForm; sample += 1) {
    const index = Math.abs(sample) % 2;
    const { firstMs, lastMs } = await time({ model: 'm', input: 'Hello', stream, store: index === 1 });
    if (sample < 0) continue;
    timings[index]?.first.add(firstMs);
    timings[index]?.last.add(lastMs);
  }
  return timings;
}

function printTimings(what: string, [without, stored]: readonly Timings[]): void {
  if (without === undefined || stored === undefined) return;
  report(what, without);
  report(`${what}, stored`, stored);
  console.info(`${what}: storing adds ${(stored.getQuantile(0.5) - without.getQuantile(0.5)).toFixed(3)} ms at p50`);
}

function toTimings(): { readonly first: Timings; readonly last: Timings } {
  return { first: new Timings(), last: new Timings() };
}

async function timeAnswer(url: string, body: object, sending: UpstreamTimes): Promise<{ firstMs: number; lastMs: number }> {
  const beganMs = performance.now();
  const response = await fetch(`${url}/v1/responses`, { method: 'POST', headers: withKey(key), body: JSON.stringify(body) });
  let firstMs: number | undefined;
  for await (const _piece of response.body ?? []) firstMs ??= performance.now() - beganMs;
  const lastMs = performance.now() - sending.endAtMs;
  return { firstMs: firstMs ?? lastMs, lastMs };
}
