import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { text } from '#test/chunks.ts';
import type { StreamContent } from '#test/read-events.ts';
import { jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { getProjectBucket } from '../applications/support.ts';
import { buildOperations, calls, getMessage, getTrace, quickApp, readTrace, says, user } from './support.ts';

interface TraceRig extends AsyncDisposable {
  readonly service: TestService;
  readonly model: ScriptedUpstream;
  /** Sends a request to the application `app` with `X-Parley-Trace`. */
  chat(fields?: object, headers?: Record<string, string>): Promise<TestResponse>;
}

const traceHeaders = { 'x-parley-trace': 'true' };
let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
});

beforeEach(() => api.script(({ received, response }) => void response.end(`from ${received.path}`)));

afterAll(() => api.close());

async function startTraceRig(app: object, replies: readonly Reply[], applications: object = {}): Promise<TraceRig> {
  const model = await startScriptedUpstream(...replies);
  const pricing = { prompt: 0.001, completion: 0.01, cacheRead: 0.0001 };
  const service = await startService({
    models: { model: { upstreams: [{ endpoint: model.endpoint }], pricing } },
    applications: { app: quickApp(app), ...applications },
    keys: { 'caller-key': { project: 'test', role: 'admin' }, plain: { project: 'plain' } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  });
  return {
    service,
    model,
    chat: (fields = {}, headers = {}) =>
      service.chat('app', { messages: [user('Do it.')], ...fields }, { ...traceHeaders, ...headers }),
    async [Symbol.asyncDispose]() {
      await service.close();
      await model.close();
    },
  };
}

const getStreamTrace = (result: StreamContent) => result.deltas().flatMap(({ custom_content: custom }) => readTrace(custom));
const parse = (json = 'null') => JSON.parse(json) as JsonObject;

describe('the trace of a run', () => {
  it('contains each model turn and each tool run in order, with their input and output', async () => {
    await using rig = await startTraceRig(buildOperations(api, 'one', 'two'), [
      calls(['one', { a: 1 }], ['two', {}]),
      says('Done.'),
    ]);
    const response = await rig.chat({ seed: 7 });
    const trace = getTrace(response);
    expect(trace.map(({ index, kind, turn, name }) => [index, kind, turn, name])).toEqual([
      [0, 'model', 1, 'model'],
      [1, 'tool', 1, expect.stringMatching(/one|two/)],
      [2, 'tool', 1, expect.stringMatching(/one|two/)],
      [3, 'model', 2, 'model'],
    ]);
    const [first, , , second] = trace;
    const [sentFirst, sentSecond] = rig.model.requests.map(({ body }) => body);
    expect(parse(first?.sent)).toEqual({
      ...{ messages_before: 0, messages: sentFirst?.messages, tools: sentFirst?.tools, temperature: 0.25, seed: 7 },
    });
    expect(parse(first?.received)).toMatchObject({
      finish_reason: 'tool_calls',
      tool_calls: [{ id: 'call_0' }, { id: 'call_1' }],
    });
    const toolItem = trace.find(({ name }) => name === 'one');
    expect([parse(toolItem?.sent), parse(toolItem?.received)]).toEqual([{ a: 1 }, { text: 'from /one', failed: false }]);
    expect(parse(second?.sent)).toEqual({
      ...{ messages_before: 2, messages: (sentSecond?.messages as object[] | undefined)?.slice(2), temperature: 0.25, seed: 7 },
    });
    expect(parse(second?.received)).toEqual({ content: 'Done.', finish_reason: 'stop' });
  });

  it('contains calls that did not run a tool', async () => {
    await using rig = await startTraceRig(buildOperations(api, 'one'), [calls(['two', {}], ['one', 'no JSON']), says('Sorry.')]);
    const trace = getTrace(await rig.chat());
    expect(trace.flatMap(({ kind, name, error }) => (kind === 'tool' ? [[name, error]] : []))).toEqual([
      ['two', 'There is no tool named two.'],
      ['one', 'The arguments are not a JSON object. Send a JSON object.'],
    ]);
  });

  it('contains the same cost for cached tokens as usage records', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens: 8 } };
    const message = { role: 'assistant', content: 'Done.' };
    const reply = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
    await using rig = await startTraceRig({}, [jsonReply(reply)]);
    const [only] = getTrace(await rig.chat());
    expect(only?.cost_usd).toBeCloseTo(2 * 0.001 + 8 * 0.0001 + 2 * 0.01, 10);
    expect(only?.usage_per_model).toEqual([expect.not.objectContaining({ prompt_tokens_details: expect.anything() })]);
  });

  it('contains times, tokens, and costs', async () => {
    await using rig = await startTraceRig(buildOperations(api, 'one'), [calls(['one', {}]), says('Done.')]);
    const [first, tool, second] = getTrace(await rig.chat());
    expect(first?.usage_per_model).toMatchObject([{ model: 'model', prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }]);
    expect([first?.cost_usd, second?.cost_usd, tool?.cost_usd]).toEqual([0.03, 0.03, undefined]);
    for (const { duration_ms, first_ms = 0 } of [first, second].filter((item) => item !== undefined)) {
      expect(duration_ms).toBeGreaterThanOrEqual(first_ms);
    }
    expect(tool?.at_ms).toBeGreaterThanOrEqual((first?.at_ms ?? 0) + (first?.duration_ms ?? 0) - 0.2);
    expect(second?.at_ms).toBeGreaterThanOrEqual((tool?.at_ms ?? 0) + (tool?.duration_ms ?? 0) - 0.2);
  });

  it('is streamed during the run, and does not change the other chunks', async () => {
    await using rig = await startTraceRig(buildOperations(api, 'one'), [calls('Let me see.', ['one', {}]), says('Done.')]);
    const stream = await rig.service.stream('app', { messages: [user('Do it.')] }, traceHeaders);
    const result = await stream.readRest();
    rig.model.script(calls('Let me see.', ['one', {}]), says('Done.'));
    const plainResult = await (await rig.service.stream('app', { messages: [user('Do it.')] })).readRest();
    const listKinds = ({ chunks }: StreamContent) =>
      chunks.map(({ choices: [choice], usage, statistics }) => {
        const { trace, ...custom } = (choice?.delta.custom_content ?? {}) as JsonObject;
        if (trace !== undefined) return 'trace';
        const parts = [choice?.delta.role, choice?.delta.content, choice?.finish_reason, ...Object.keys(custom)];
        return [...parts, usage && 'usage', statistics && 'statistics'].filter(Boolean).join();
      });
    expect(listKinds(result).filter((kind) => kind !== 'trace')).toEqual(listKinds(plainResult));
    expect(listKinds(result).at(0)).toBe('assistant');
    const positions = listKinds(result).flatMap((kind, index) => (kind === 'trace' ? [index] : []));
    expect(positions.at(0)).toBeLessThan(listKinds(result).indexOf('\n\nDone.'));
    expect(positions.at(-1)).toBeLessThan(listKinds(result).indexOf('stop'));
    expect(result.isDone).toBe(true);
  });

  it('contains errors, and does not hide them from the client', async () => {
    api.script(({ response }) => void response.writeHead(500).end('broken'));
    const brokenReply: Reply = async (exchange) => {
      exchange.head();
      await exchange.events(text('Half'));
      exchange.destroyConnection();
    };
    await using rig = await startTraceRig(buildOperations(api, 'one'), [calls(['one', {}]), brokenReply]);
    const stream = await rig.service.stream('app', { messages: [user('Do it.')] }, traceHeaders);
    const result = await stream.readRest();
    expect(result.error?.code).toBe('upstream_failed');
    const [, tool, second] = getStreamTrace(result);
    expect(parse(tool?.received)).toEqual({ text: 'HTTP 500: broken', failed: true });
    expect([second?.turn, parse(second?.received).content]).toEqual([2, 'Half']);
    expect(second?.error).toMatch(/failed/);
  });

  it('is missing if the model rejects the first request', async () => {
    await using rig = await startTraceRig({}, [jsonReply({ error: { message: 'Too long.', code: 'context' } }, 400)]);
    const rejected = await rig.chat();
    expect([rejected.status, rejected.text.includes('trace')]).toEqual([400, false]);
  });

  it('is contained in each choice', async () => {
    await using rig = await startTraceRig({}, [says('Done.')]);
    const { completion } = await rig.chat({ n: 2 });
    expect(completion.choices.map(({ message }) => readTrace(message.custom_content).length)).toEqual([1, 1]);
  });

  it('can be sent back with its message, and is not sent to the model', async () => {
    await using rig = await startTraceRig({}, [says('Done.')]);
    const message = getMessage(await rig.chat());
    const repeated = await rig.chat({ messages: [user('Do it.'), message, user('Again.')] });
    expect(repeated.status).toBe(200);
    expect(JSON.stringify(rig.model.requests.at(-1)?.body)).not.toContain('duration_ms');
  });

  it('contains tool arguments that resemble reply items unchanged', async () => {
    const hostile = {
      items: [{ index: 999_999_999 }, { index: 0.5 }, { index: 0, content: 'x' }],
      __proto__: null,
      status: 'failed',
    };
    await using rig = await startTraceRig(buildOperations(api, 'one'), [calls(['one', hostile]), says('Done.')]);
    const response = await rig.chat();
    expect(response.status).toBe(200);
    expect(parse(getTrace(response)[1]?.sent).items).toEqual(hostile.items);
  });
});

describe('the size of a trace', () => {
  it('is limited for each text, each item, and in total', async () => {
    const replies = Array.from({ length: 5 }, () =>
      calls(...Array.from({ length: 12 }, () => ['one', { x: 'y'.repeat(50_000) }] as const)),
    );
    await using rig = await startTraceRig(buildOperations(api, 'one'), [...replies, says('Done.')]);
    const response = await rig.chat({ messages: [user(`data:image/png;base64,${'A'.repeat(200_000)}`)] });
    const trace = getTrace(response);
    expect(trace).toHaveLength(6 + 5 * 12);
    const longest = Math.max(...trace.flatMap(({ sent, received }) => [sent.length, received.length]));
    expect(longest).toBeLessThan(65_000);
    expect(JSON.stringify(trace).length).toBeLessThan(1_300_000);
    expect(trace[0]?.sent).toMatch(/data:image\/png;base64,A{78}… \[\d+ more characters\]/);
    expect(trace[1]?.sent).toMatch(/^\{"x":"y{16000}… \[34000 more characters\]"\}$/);
    expect(trace.at(-1)?.duration_ms).toBeGreaterThanOrEqual(0);
  });
});

describe('a secret', () => {
  it('does not appear in a trace, even if the model or an API repeats it', async () => {
    const secret = 'canary-7c1';
    const toolsets = (buildOperations(api, 'one') as { web_api_toolset: object[] }).web_api_toolset;
    const authorization = { type: 'bearer', token: secret };
    const app = { instructions: `Say ${secret}.`, web_api_toolset: [{ ...toolsets[0], authorization }] };
    api.script(({ received, response }) => void response.end(`you sent ${received.headers.authorization}`));
    await using rig = await startTraceRig(app, [calls(['one', { said: secret }]), says(`It is ${secret}.`)]);
    const trace = getTrace(await rig.chat());
    expect(trace).toHaveLength(3);
    expect(JSON.stringify(trace)).not.toContain('canary');
    expect(api.requests.at(-1)?.headers.authorization).toContain(secret);
  });
});

describe('access to a trace', () => {
  const toTraceStatus = (response: TestResponse) => [response.status, response.text.includes('"trace"')];

  it('of a configured application requires the role admin', async () => {
    await using rig = await startTraceRig({}, [says('Done.')]);
    expect(toTraceStatus(await rig.chat())).toEqual([200, true]);
    expect(toTraceStatus(await rig.chat({}, { 'api-key': 'plain' }))).toEqual([200, false]);
  });

  it('requires the header value true, and exists only for applications', async () => {
    await using rig = await startTraceRig({}, [says('Done.')]);
    for (const value of ['false', '1', 'TRUE', '', 'true, true']) {
      expect(toTraceStatus(await rig.chat({}, { 'x-parley-trace': value }))).toEqual([200, false]);
    }
    const plainResponse = await rig.service.chat('app', { messages: [user('Do it.')] });
    expect(toTraceStatus(plainResponse)).toEqual([200, false]);
    expect(toTraceStatus(await rig.service.chat('model', { messages: [user('Do it.')] }, traceHeaders))).toEqual([200, false]);
  });

  it('of a saved application is limited to its owner, even if other users may use it', async () => {
    await using rig = await startTraceRig({}, [says('Done.')]);
    const id = `applications/${getProjectBucket('plain')}/mine`;
    const entry = quickApp({}, { userRoles: ['admin'] });
    const saveResponse = await rig.service.sendRequest({
      method: 'PUT',
      path: `/v1/${id}`,
      headers: withKey('plain'),
      body: entry,
    });
    expect(saveResponse.status).toBe(201);
    const send = (key: string) => rig.service.chat(id, { messages: [user('Do it.')] }, { ...traceHeaders, 'api-key': key });
    expect(toTraceStatus(await send('plain'))).toEqual([200, true]);
    expect(toTraceStatus(await send('caller-key'))).toEqual([200, false]);
  });

  it('is denied to applications with a per-request key, and excludes the runs of inner applications', async () => {
    await using host = await startScriptedUpstream();
    await using rig = await startTraceRig({ applications_as_tools: ['inner', 'outside'] }, [], {
      inner: quickApp({ instructions: 'canary-of-the-inner' }),
      outside: { endpoint: `${host.url}/app` },
    });
    const innerReplies: TestResponse[] = [];
    host.script(async ({ received, response }) => {
      const key = String(received.headers['api-key']);
      innerReplies.push(await rig.service.chat('inner', { messages: [user('Inside.')] }, { ...traceHeaders, 'api-key': key }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        }),
      );
    });
    rig.model.script(
      calls(['inner', { query: 'a' }]),
      says('From inside.'),
      calls(['outside', { query: 'b' }]),
      says('From inside.'),
      says('Done.'),
    );
    const answer = await rig.chat();
    expect(innerReplies.map(toTraceStatus)).toEqual([[200, false]]);
    expect(getTrace(answer).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...['model model', 'tool inner', 'model model', 'tool outside', 'model model'],
    ]);
    expect(JSON.stringify(getTrace(answer))).not.toContain('canary-of-the-inner');
  });
});
