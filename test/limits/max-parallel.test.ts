import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import {
  jsonReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { sendAndDisconnect, sendRequest, type TestResponse } from '#test/send-request.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

const quickApp = 'https://parley.test/custom_application_schemas/quickapps';
let upstream: ScriptedUpstream;
let service: TestService;
let stored: ResponseDatabase;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const upstreams = [{ endpoint: upstream.endpoint }];
  const applicationProperties = { temperature: 0, instructions: 'Be kind.', model: 'm' };
  stored = await openResponses('SQLite');
  const configuration = {
    models: { m: { upstreams, maxRetryAttempts: 1 }, n: { upstreams, maxRetryAttempts: 1 } },
    applications: {
      app: { endpoint: `${upstream.endpoint}/app` },
      quick: { applicationTypeSchemaId: quickApp, applicationProperties },
    },
    keys: {
      'by-role': { project: 'ada', role: 'narrow' },
      'same-user': { project: 'ada', role: 'narrow' },
      'other-user': { project: 'bob', role: 'narrow' },
      'by-key': { project: 'by-key', limits: { m: { maxParallel: 2 } } },
      'by-user': { project: 'carl' },
      'by-project': { project: 'team', key: 'by-project' },
      'by-project-too': { project: 'team' },
      blocked: { project: 'blocked', totals: { maxParallel: 0 } },
      single: { project: 'single', totals: { maxParallel: 1 } },
      'single-everywhere': { project: 'everywhere', limits: { '*': { maxParallel: 1 } } },
      free: { project: 'free' },
    },
    users: { 'key:carl': { totals: { maxParallel: 2 } } },
    projects: { team: { totals: { maxParallel: 2 } } },
    roles: { narrow: { limits: { '*': { maxParallel: 2 } } } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
  service = await startService(configuration, { responses: { ...stored.stores(), isShared: false } });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
  await stored[Symbol.asyncDispose]();
});

/** Replies that wait until `release` is called. */
function holdReplies(count: number, ...before: readonly Reply[]): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const release = () => {
    upstream.script(jsonReply(plainCompletion('hi')));
    resolve();
  };
  const held = async (exchange: UpstreamExchange): Promise<void> => {
    await promise;
    await jsonReply(plainCompletion('hi'))(exchange);
  };
  upstream.script(...before, ...Array.from({ length: count }, () => held));
  return release;
}

const call = (key: string, deployment = 'm'): Promise<TestResponse> =>
  service.chat(deployment, { messages: hello }, withKey(key));

/** Starts calls, and resolves when they have reached the upstream. */
async function startCalls(...calls: readonly [key: string, deployment?: string][]): Promise<Promise<TestResponse>[]> {
  const before = upstream.requests.length;
  const started = calls.map(([key, deployment]) => call(key, deployment));
  await vi.waitFor(() => expect(upstream.requests.length).toBe(before + calls.length), 8_000);
  return started;
}

async function readParallel(key: string, deployment = 'm'): Promise<unknown> {
  const path = `/v1/deployments/${deployment}/limits`;
  const answer = await service.sendRequest({ method: 'GET', path, headers: withKey(key) });
  return (answer.json as Record<string, unknown>).parallelCallStats;
}

const untilIdle = () => vi.waitFor(() => expect(service.inFlightCalls.size).toBe(0), 8_000);

/** Returns a reply that calls a deployment with the per-request key. */
function callDeployment(deployment: string, answers: TestResponse[], count = 1): Reply {
  return async ({ received, response }) => {
    const headers = withKey(String(received.headers['api-key']));
    const send = async (): Promise<void> => {
      answers.push(await sendRequest(service.url, { path: getChatPath(deployment), headers, body: { messages: hello } }));
    };
    await Promise.all(Array.from({ length: count }, send));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(plainCompletion('done', { usage: undefined })));
  };
}

describe('maxParallel', () => {
  it.each([
    ['a role, for each user', 'by-role', 'same-user', 'Your limit of 2 parallel calls on m'],
    ['a key', 'by-key', 'by-key', 'The limit of your key, 2 parallel calls on m,'],
    ['a user', 'by-user', 'by-user', 'The limit of your user, 2 parallel calls,'],
    ['a project', 'by-project', 'by-project-too', 'The limit of your project team, 2 parallel calls,'],
  ])('of %s rejects a further call immediately, until one ends', async (_of, key, otherKey, message) => {
    const release = holdReplies(2);
    const calls = await startCalls([key], [otherKey]);
    const rejected = await call(key);
    expect([rejected.status, rejected.error.code]).toEqual([429, 'parallel_limit_exceeded']);
    expect(rejected.error.message).toBe(
      `${message} is reached (2 in progress). Try again in ${rejected.headers['retry-after']} s.`,
    );
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    release();
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    await untilIdle();
    expect((await call(otherKey)).status).toBe(200);
  });

  it('counts each deployment separately in `limits`, and all of them together in `totals`', async () => {
    const release = holdReplies(6);
    const calls = await startCalls(
      ['by-role'],
      ['by-role'],
      ['by-role', 'n'],
      ['other-user'],
      ['by-project', 'm'],
      ['by-project', 'n'],
    );
    expect((await call('by-role')).status).toBe(429);
    expect((await call('by-project', 'm')).error).toMatchObject({ limit: { of: 'project:team', window: 'calls.parallel' } });
    expect(await readParallel('by-role')).toEqual({ total: 2, used: 2 });
    expect(await readParallel('by-role', 'n')).toEqual({ total: 2, used: 1 });
    expect(await readParallel('free')).toEqual({ total: null, used: 0 });
    release();
    await Promise.all(calls);
    await untilIdle();
    expect(await readParallel('by-role')).toEqual({ total: 2, used: 0 });
  });

  it('counts a stream until its last chunk', async () => {
    const end = Promise.withResolvers<void>();
    upstream.script(async (exchange) => {
      exchange.head();
      const [first, ...rest] = plainReply('one', 'two');
      await exchange.events(first as object);
      await end.promise;
      await exchange.events(...rest);
      exchange.done();
    });
    const reader = await service.stream('m', { messages: hello }, withKey('single'));
    expect((await call('single')).status).toBe(429);
    end.resolve();
    await reader.readRest();
    await untilIdle();
    expect((await call('single')).status).toBe(200);
  });

  it('counts a call no longer after its client disconnected', async () => {
    const release = holdReplies(1);
    const before = upstream.requests.length;
    const body = { messages: hello };
    const client = sendAndDisconnect(service.url, { path: getChatPath('m'), headers: withKey('single'), body });
    await vi.waitFor(() => expect(upstream.requests.length).toBe(before + 1), 8_000);
    expect((await call('single')).status).toBe(429);
    client.disconnect();
    release();
    await vi.waitFor(async () => expect((await call('single')).status).toBe(200), 8_000);
  });

  it('counts a call once, together with the inner calls of its application', async () => {
    const answers: TestResponse[] = [];
    upstream.script(callDeployment('m', answers, 3), jsonReply(plainCompletion('hi')));
    expect((await call('single', 'app')).status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await call('single', 'quick')).status).toBe(200);
    await untilIdle();
    expect((await call('single')).status).toBe(200);
  });

  it('counts inner calls on their own deployment, and does not block a deployment that calls itself', async () => {
    const answers: TestResponse[] = [];
    const own: TestResponse[] = [];
    const release = holdReplies(1, callDeployment('m', answers, 3));
    const outer = call('single-everywhere', 'app');
    await vi.waitFor(() => expect(answers.map(({ status }) => status)).toEqual([429, 429]), 8_000);
    release();
    expect((await outer).status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 200]);
    upstream.script(callDeployment('app', own), jsonReply(plainCompletion('inner')));
    expect((await call('single-everywhere', 'app')).status).toBe(200);
    expect(own.map(({ status }) => status)).toEqual([200]);
  });

  it('of 0 denies access', async () => {
    const { status, error } = await call('blocked');
    expect([status, error.code]).toEqual([403, 'access_denied']);
  });

  it('counts calls of the Responses and Messages APIs, and background responses until they end', async () => {
    const release = holdReplies(1);
    const before = upstream.requests.length;
    const send = (path: string, body: object) => service.sendRequest({ path, headers: withKey('single'), body });
    const created = await send('/v1/responses', { model: 'm', input: 'Hello', background: true, stream: false });
    expect([created.status, created.json]).toEqual([200, expect.objectContaining({ status: 'queued' })]);
    await vi.waitFor(() => expect(upstream.requests.length).toBe(before + 1), 8_000);
    expect((await send('/v1/responses', { model: 'm', input: 'Hello' })).status).toBe(429);
    expect(
      (await send('/msgapi/v1/messages', { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })).status,
    ).toBe(429);
    release();
    await vi.waitFor(async () => expect((await call('single')).status).toBe(200), 8_000);
  });
});
