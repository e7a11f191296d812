import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import {
  errorReply,
  jsonReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  toEvent,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let spare: ScriptedUpstream;
let service: TestService;
/** Replies that the upstream holds back, in order of arrival. */
let held: UpstreamExchange[] = [];

beforeAll(async () => {
  upstream = await startScriptedUpstream((exchange) => void held.push(exchange));
  spare = await startScriptedUpstream((exchange) => answer(exchange));
  const { endpoint } = upstream;
  service = await startService({
    models: {
      gpt: { upstreams: [{ endpoint, maxParallel: 2 }] },
      hurried: { upstreams: [{ endpoint, maxParallel: 1 }], queue: { maxWaitMs: 30 } },
      unqueued: { upstreams: [{ endpoint, maxParallel: 1 }], queue: { maxWaiting: 0 } },
      spilling: {
        upstreams: [
          { endpoint, maxParallel: 1 },
          { endpoint: spare.endpoint, tier: 1 },
        ],
      },
      single: { upstreams: [{ endpoint, maxParallel: 1 }], maxRetryAttempts: 1 },
      mixed: { upstreams: [{ endpoint, api: 'responses', maxParallel: 1 }, { endpoint: spare.endpoint }] },
    },
    keys: {
      [callerKey]: { project: 'eve' },
      ada: { project: 'ada' },
      bob: { project: 'bob' },
      night: { project: 'night', role: 'nightly' },
    },
    roles: { nightly: { priority: 'batch' } },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
  await spare.close();
});

beforeEach(() => {
  held = [];
});

function answer({ response, received }: UpstreamExchange): void {
  const isStreamed = received.body.stream === true;
  response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' });
  if (isStreamed) response.end(`${plainReply('Hi.').map(toEvent).join('')}data: [DONE]\n\n`);
  else response.end(JSON.stringify(plainCompletion('Hi.')));
}

const send = (deployment: string, key: string, user = key) => service.chat(deployment, { messages: hello, user }, withKey(key));
const getUsers = () => held.map(({ received }) => received.body.user);

async function waitFor(isDone: () => boolean): Promise<void> {
  while (!isDone()) await nextTurn();
}

const waitForWaiting = (deployment: string, count: number) =>
  waitFor(
    () => ([...service.loadBalancer.queue.listSizes()].find((queue) => queue.deployment === deployment)?.size ?? 0) === count,
  );

describe('maxParallel of an upstream', () => {
  it('holds calls until an earlier one has ended, with turns for each caller and batch calls last', async () => {
    const replies = [];
    for (const [key, user] of [
      ['night', 'n1'],
      ['night', 'n2'],
      ['night', 'n3'],
      ['ada', 'a1'],
      ['ada', 'a2'],
      ['ada', 'a3'],
      ['bob', 'b1'],
    ]) {
      replies.push(send('gpt', key as string, user));
      await waitFor(() => held.length === Math.min(2, replies.length));
      await waitForWaiting('gpt', Math.max(0, replies.length - 2));
    }
    for (let ended = 0; ended < 7; ended += 1) {
      await waitFor(() => held.length === Math.min(7, ended + 2));
      expect([...service.loadBalancer.queue.listSizes()]).toEqual(ended < 5 ? [{ deployment: 'gpt', size: 5 - ended }] : []);
      answer(held[ended] as UpstreamExchange);
    }
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(7).fill(200));
    expect(getUsers()).toEqual(['n1', 'n2', 'a1', 'b1', 'a2', 'a3', 'n3']);
  });

  it('counts a stream until its end, and gives the place of a client that disconnects to the next call', async () => {
    const stream = await openHeldStream();
    const canceled = service.chatAndDisconnect('single', { messages: hello });
    await waitForWaiting('single', 1);
    const waiting = send('single', 'ada');
    await waitForWaiting('single', 2);
    canceled.disconnect();
    await waitForWaiting('single', 1);
    stream.disconnect();
    await waitFor(() => held.length === 2);
    answer(held[1] as UpstreamExchange);
    expect((await waiting).status).toBe(200);
  });

  it('rejects a call that has waited for maxWaitMs with 503 and Retry-After', async () => {
    const first = send('hurried', 'ada');
    await waitFor(() => held.length === 1);
    const { status, headers, json } = await send('hurried', 'bob');
    expect([status, headers['retry-after'], json]).toMatchObject([
      503,
      '1',
      { error: { code: 'overloaded', message: 'Every upstream of hurried is busy. Try again in 1 s.' } },
    ]);
    answer(held[0] as UpstreamExchange);
    expect((await first).status).toBe(200);
  });

  it('rejects a call immediately if no call may wait', async () => {
    const first = send('unqueued', 'ada');
    await waitFor(() => held.length === 1);
    expect((await send('unqueued', 'ada')).status).toBe(503);
    answer(held[0] as UpstreamExchange);
    await first;
  });

  it('sends calls to a higher tier while the lower one is full', async () => {
    const first = send('spilling', 'ada');
    await waitFor(() => held.length === 1);
    expect((await send('spilling', 'ada')).status).toBe(200);
    expect(spare.requests).toHaveLength(1);
    answer(held[0] as UpstreamExchange);
    await first;
  });

  it('holds a request that the other upstreams would reject, but no other request', async () => {
    const body = { model: 'mixed', input: 'Hi', tools: [{ type: 'web_search' }], tool_choice: 'required' };
    const sendHosted = (key: string) => service.sendRequest({ path: '/v1/responses', headers: withKey(key), body });
    const completeResponse = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', output: [] };
    const first = sendHosted('ada');
    await waitFor(() => held.length === 1);
    const [second, third] = [sendHosted('ada'), sendHosted('bob')];
    await waitForWaiting('mixed', 2);
    expect((await send('mixed', 'ada')).status).toBe(200);
    for (let ended = 0; ended < 3; ended += 1) {
      await waitFor(() => held.length === ended + 1);
      await jsonReply(completeResponse)(held[ended] as UpstreamExchange);
    }
    expect((await Promise.all([first, second, third])).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('rejects all waiting calls with the error of the upstream’s rate limit, once it applies', async () => {
    const first = send('single', 'ada');
    await waitFor(() => held.length === 1);
    const others = [send('single', 'bob'), send('single', 'ada')];
    await waitForWaiting('single', 2);
    await errorReply(429, { 'retry-after': '7' })(held[0] as UpstreamExchange);
    const replies = await Promise.all([first, ...others]);
    expect(replies.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(Array(3).fill([429, '7']));
    service.forgetFailures();
  });
});

describe('the quota that an upstream reports', () => {
  it('pauses the upstream until the next request of the quota is available', async () => {
    const fields = {
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '50s',
    };
    const first = send('single', 'ada');
    await waitFor(() => held.length === 1);
    await jsonReply(plainCompletion('Hi.'), 200, fields)(held[0] as UpstreamExchange);
    expect((await first).status).toBe(200);
    const { status, headers } = await send('single', 'ada');
    expect([status, headers['retry-after'], held.length]).toEqual([429, '5', 1]);
    service.forgetFailures();
  });
});

/** Opens a stream whose reply the upstream has started. */
async function openHeldStream() {
  const opening = service.stream('single', { messages: hello }, withKey('ada'));
  await waitFor(() => held.length === 1);
  const [exchange] = held;
  exchange?.head();
  await exchange?.events(plainReply('Hi.')[0]);
  return await opening;
}
