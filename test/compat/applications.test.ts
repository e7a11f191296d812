import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Delta } from '#contract/chat/chunk.ts';
import { delta, finish, hello, plainCompletion, plainReply, text, usage } from '#test/chunks.ts';
import {
  errorReply,
  eventsReply,
  jsonReply,
  type ReceivedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath, startService, type TestService } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
/** Serves the applications. */
let host: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('inner')));
  host = await startScriptedUpstream();
  const upstreams = [{ endpoint: upstream.endpoint }];
  service = await startService({
    models: {
      m: { upstreams },
      other: { upstreams },
      staff: { upstreams, userRoles: ['staff'] },
      vectors: { type: 'embedding', upstreams },
    },
    applications: { app: { endpoint: `${host.url}/app` }, second: { endpoint: `${host.url}/second` } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await host.close();
  await upstream.close();
});

function getKey({ headers }: ReceivedRequest): string {
  return String(headers['api-key']);
}

/** Calls the service with the key of the request, as an application does. */
function callBack(received: ReceivedRequest, deployment: string, body: object = { messages: hello }): Promise<TestResponse> {
  const headers = { 'api-key': getKey(received), 'content-type': 'application/json' };
  return sendRequest(service.url, { path: getChatPath(deployment), headers, body });
}

/** Returns an application that calls the deployments in sequence and then answers. */
function callInSequence(...deployments: string[]) {
  return async (exchange: UpstreamExchange): Promise<void> => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant', content: '' }));
    for (const deployment of deployments) {
      const inner = await callBack(exchange.received, deployment);
      const content = inner.status === 200 ? inner.completion.choices[0]?.message.content : 'failed';
      await exchange.events(text(String(content)));
    }
    await exchange.events(finish());
    exchange.done();
  };
}

describe('application with an endpoint', () => {
  it('receives a new key in Api-Key for each call, and no credentials of the client', async () => {
    host.script(jsonReply(plainCompletion('hi')));
    const keys = new Set<string>();
    for (const headers of [{}, { 'api-key': '', authorization: `Bearer ${callerKey}` }, { cookie: `k=${callerKey}` }]) {
      await service.chat('app', { messages: hello }, headers);
      const received = host.requests.at(-1) ?? expect.unreachable();
      keys.add(getKey(received));
      expect(received.headers).not.toHaveProperty('authorization');
      expect(`${JSON.stringify(received.headers)}${received.text}`).not.toContain(callerKey);
    }
    expect(keys.size).toBe(3);
    for (const key of keys) expect(Buffer.from(key, 'base64url').length).toBeGreaterThanOrEqual(16);
  });

  it('can call the service while its call is in progress, and not afterwards', async () => {
    let during: number[] = [];
    host.script(async (exchange) => {
      const { received } = exchange;
      during = [
        (await callBack(received, 'm')).status,
        (await callBack(received, 'm', { messages: hello, stream: true })).status,
      ];
      const headers = { authorization: `Bearer ${getKey(received)}` };
      during.push((await sendRequest(service.url, { method: 'GET', path: '/v1/models', headers })).status);
      exchange.head(200, { 'content-type': 'application/json' });
      exchange.response.end(JSON.stringify(plainCompletion('done')));
    });
    expect((await service.chat('app', { messages: hello })).status).toBe(200);
    expect(during).toEqual([200, 200, 200]);
    const after = await callBack(host.requests.at(-1) ?? expect.unreachable(), 'm');
    expect([after.status, after.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('cannot call the service after its call fails or the client disconnects', async () => {
    host.script(errorReply(500));
    await service.chat('app', { messages: hello });
    expect((await callBack(host.requests.at(-1) ?? expect.unreachable(), 'm')).status).toBe(401);
    host.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'hi' }));
    });
    const reader = await service.stream('app', { messages: hello });
    await reader.next();
    const received = host.requests.at(-1) ?? expect.unreachable();
    expect((await callBack(received, 'm')).status).toBe(200);
    reader.disconnect();
    await received.closed;
    expect((await callBack(received, 'm')).status).toBe(401);
  });

  it('has only the rights of its caller', async () => {
    let status = 0;
    host.script(async (exchange) => {
      status = (await callBack(exchange.received, 'staff')).status;
      exchange.response.end();
    });
    await service.chat('app', { messages: hello });
    expect(status).toBe(403);
  });
});

describe('statistics of an application', () => {
  const createReplyWithUsage = (prompt: number, completion: number) =>
    jsonReply(plainCompletion('inner', { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0 } }));
  const createUsageItem = (index: number, model: string, prompt: number, completion: number) => ({
    index,
    model,
    name: model,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  });

  it('include its inner calls, summed by model', async () => {
    host.script(callInSequence('m', 'other', 'm'));
    upstream.script(createReplyWithUsage(1, 2), createReplyWithUsage(10, 20), createReplyWithUsage(100, 200));
    const { chunks, content, usages } = await (await service.stream('app', { messages: hello })).readRest();
    expect(content()).toBe('innerinnerinner');
    expect(chunks.at(-1)?.statistics).toEqual({
      usage_per_model: [createUsageItem(0, 'm', 101, 202), createUsageItem(1, 'other', 10, 20)],
    });
    expect(usages).toEqual([{ prompt_tokens: 111, completion_tokens: 222, total_tokens: 333 }]);
  });

  it('include the inner calls of applications that it calls', async () => {
    host.script(async (exchange) => {
      const { completion } = await callBack(exchange.received, 'second');
      expect(completion.statistics?.usage_per_model).toEqual([createUsageItem(0, 'm', 3, 4)]);
      await callBack(exchange.received, 'other');
      exchange.head(200, { 'content-type': 'application/json' });
      exchange.response.end(JSON.stringify(plainCompletion('done', { usage: undefined })));
    }, callInSequence('m'));
    upstream.script(createReplyWithUsage(3, 4), createReplyWithUsage(5, 6));
    const { completion } = await service.chat('app', { messages: hello });
    expect(completion.statistics?.usage_per_model).toEqual([createUsageItem(0, 'm', 3, 4), createUsageItem(1, 'other', 5, 6)]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 10, total_tokens: 18 });
  });

  it('are those that the application reports, if any', async () => {
    host.script(
      eventsReply(...plainReply('hi').slice(0, -1), {
        ...usage(1, 1),
        statistics: { usage_per_model: [{ index: 0, name: 'theirs', prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 }] },
      }),
    );
    const { chunks } = await (await service.stream('app', { messages: hello })).readRest();
    expect(chunks.at(-1)?.statistics).toEqual({ usage_per_model: [createUsageItem(0, 'theirs', 2, 3)] });
    expect(chunks.filter(({ statistics }) => statistics !== undefined)).toHaveLength(1);
  });

  it('count the usage if the reply is aborted', async () => {
    upstream.script(createReplyWithUsage(1, 2));
    host.script(callInSequence('second', 'm'), async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'half' }));
      await callBack(exchange.received, 'm');
      exchange.destroyConnection();
    });
    const { chunks, content } = await (await service.stream('app', { messages: hello })).readRest();
    expect(content()).toBe('failedinner');
    expect(chunks.at(-1)?.statistics?.usage_per_model).toEqual([createUsageItem(0, 'm', 2, 4)]);
  });
});

describe('chain of applications', () => {
  it('is rejected if it would contain one application a fifth time', async () => {
    const rejections: TestResponse[] = [];
    host.script(async (exchange) => {
      const inner = await callBack(exchange.received, 'app');
      if (inner.status === 400) rejections.push(inner);
      exchange.head(200, { 'content-type': 'application/json' });
      exchange.response.end(JSON.stringify(plainCompletion('done')));
    });
    const before = host.requests.length;
    expect((await service.chat('app', { messages: hello })).status).toBe(200);
    expect(host.requests.length - before).toBe(4);
    expect(rejections.map(({ error }) => error.code)).toEqual(['call_depth_exceeded']);
  });

  it('is rejected if it is deeper than 16 applications', async () => {
    const applications = Object.fromEntries(
      Array.from({ length: 20 }, (_, depth) => [`a${depth}`, { endpoint: `${host.url}/${depth}` }]),
    );
    await using deep = await startService({ applications });
    let rejection: TestResponse | undefined;
    host.script(async (exchange) => {
      const next = `a${Number(exchange.received.path.slice(1)) + 1}`;
      const headers = { 'api-key': getKey(exchange.received), 'content-type': 'application/json' };
      const inner = await sendRequest(deep.url, { path: getChatPath(next), headers, body: { messages: hello } });
      if (inner.status !== 200) rejection = inner;
      exchange.head(200, { 'content-type': 'application/json' });
      exchange.response.end(JSON.stringify(plainCompletion('done')));
    });
    const before = host.requests.length;
    await deep.chat('a0', { messages: hello });
    expect(host.requests.length - before).toBe(16);
    expect([rejection?.status, rejection?.error.code]).toEqual([400, 'call_depth_exceeded']);
  });
});

describe('reply of an application', () => {
  const custom: Delta[] = [
    { custom_content: { stages: [{ index: 0, name: 'Looking', status: null }] } },
    { custom_content: { stages: [{ index: 0, content: 'here ' }] } },
    {
      custom_content: {
        stages: [{ index: 0, content: 'and there', attachments: [{ index: 0, type: 'text/csv', data: 'a,b' }] }],
      },
    },
    { custom_content: { stages: [{ index: 0, status: 'completed' }] } },
    { content: 'Found ' },
    {
      custom_content: {
        attachments: [{ index: 0, title: 'One', url: 'https://x.example/1', reference_url: 'https://x.example/ref' }],
      },
    },
    { custom_content: { attachments: [{ index: 1, title: 'Two', data: 'x' }] } },
    { custom_content: { controls: [{ index: 0, label: 'More', schema: { type: 'object', 'x-any': [1] } }] } },
    { content: 'it.' },
    { custom_content: { state: { step: 2, deep: { list: [1, { a: null }] } } } },
  ];
  const events = [delta({ role: 'assistant' }), ...custom.map((each) => delta(each)), finish(), usage(1, 1)];

  it('is streamed as it arrives, with a status in each chunk of a stage', async () => {
    host.script(eventsReply(...events));
    const { deltas } = await (await service.stream('app', { messages: hello })).readRest();
    const completed = custom.map((each) => {
      const stages = each.custom_content?.stages?.map((stage) => ({ status: null, ...stage }));
      return stages === undefined ? each : { custom_content: { stages } };
    });
    expect(deltas().slice(1, -1)).toEqual(completed);
  });

  it('is folded into a JSON message with all indices', async () => {
    host.script(eventsReply(...events));
    const { completion } = await service.chat('app', { messages: hello });
    expect(completion.choices[0]).toEqual({
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content: 'Found it.',
        custom_content: {
          stages: [
            {
              index: 0,
              name: 'Looking',
              content: 'here and there',
              status: 'completed',
              attachments: [{ index: 0, type: 'text/csv', data: 'a,b' }],
            },
          ],
          attachments: [
            { index: 0, title: 'One', url: 'https://x.example/1', reference_url: 'https://x.example/ref' },
            { index: 1, title: 'Two', data: 'x' },
          ],
          controls: [{ index: 0, label: 'More', schema: { type: 'object', 'x-any': [1] } }],
          state: { step: 2, deep: { list: [1, { a: null }] } },
        },
      },
    });
  });

  it('determines the controls that the client may complete, and their values', async () => {
    const controls = [{ index: 0, label: 'Book', schema: { type: 'object', properties: { nights: { type: 'integer' } } } }];
    const conversation = (custom: object, completed: object) => [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'So?', custom_content: custom },
      { role: 'user', content: '', custom_content: { completed_control: completed } },
    ];
    host.script(jsonReply(plainCompletion('done')));
    const complete = async (custom: object, completed: object) => {
      const { status, text } = await service.chat('app', { messages: conversation(custom, completed) });
      return status === 200 ? status : [status, JSON.parse(text).error.code, JSON.parse(text).error.param];
    };
    const path = 'messages[2].custom_content.completed_control';
    expect(await complete({ controls }, { label: 'Book', value: { nights: 2 } })).toBe(200);
    expect(await complete({ controls }, { label: 'Cancel', value: {} })).toEqual([400, 'control_not_offered', `${path}.label`]);
    expect(await complete({ controls }, { label: 'Book', value: { nights: 'x' } })).toEqual([
      400,
      'control_not_offered',
      `${path}.value`,
    ]);
    expect(await complete({ controls: [] }, { label: 'Book', value: {} })).toEqual([400, 'control_not_offered', `${path}.label`]);
    expect(await complete({}, { label: 'Cancel', value: {} })).toBe(200);
  });

  it('keeps the status of a client error', async () => {
    host.script(errorReply(400, {}, { message: 'no such city', code: 'their_code', param: 'messages' }));
    expect((await service.chat('app', { messages: hello })).error).toEqual({
      type: 'upstream_type',
      message: 'no such city',
      code: 'their_code',
      param: 'messages',
    });
  });
});
