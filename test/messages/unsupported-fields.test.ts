import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion, plainReply } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { errorReply, eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { createBody, post } from './support.ts';

allowNonconformingUpstreams();

let claude: ScriptedUpstream;
let gpt: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [claude, gpt] = [await startScriptedUpstream(), await startScriptedUpstream()];
  const anthropic = { protocol: 'anthropic', endpoint: claude.endpoint, key: 'k' };
  const openai = { endpoint: gpt.endpoint };
  service = await startService({
    models: {
      claude: { upstreams: [anthropic], maxRetryAttempts: 1 },
      gpt: { upstreams: [openai] },
      both: { upstreams: [anthropic, { ...openai, tier: 1 }] },
      helped: { upstreams: [anthropic], defaults: { addons: [{ name: 'gone' }] } },
    },
    applications: {
      app: { endpoint: `${gpt.url}/app` },
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'gpt' },
      },
    },
    addons: { gone: { url: 'http://127.0.0.1:9/openapi.json' } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await claude.close();
  await gpt.close();
});

const usage = { input_tokens: 3, output_tokens: 1 };
const message = { id: 'msg_up', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], usage };
const upload = { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }] };
const prewarmed = { max_tokens: 0 };

describe('field that a translation drops', () => {
  it('is listed in Parley-Ignored, streamed or not', async () => {
    gpt.script(jsonReply(plainCompletion('hi')), eventsReply(...plainReply('hi')));
    const jsonAnswer = await post(service, { model: 'gpt', top_k: 5, brand_new: 1 });
    const streamed = await post(service, { model: 'gpt', top_k: 5, stream: true });
    expect([jsonAnswer.status, jsonAnswer.headers['parley-ignored']]).toEqual([200, 'top_k, brand_new']);
    expect([streamed.status, streamed.headers['parley-ignored']]).toEqual([200, 'top_k']);
    expect(gpt.requests.at(-2)?.body).not.toHaveProperty('brand_new');
  });

  it('does not include the client’s tools of a quick app', async () => {
    gpt.script(jsonReply(plainCompletion('hi')), jsonReply(plainCompletion('hi')));
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    const answer = await post(service, { model: 'quick', tools, tool_choice: { type: 'any' } });
    expect(gpt.requests.at(-1)?.body).toMatchObject({ tools: [{ function: { name: 'f' } }], tool_choice: 'required' });
    const without = await post(service, { model: 'quick', tools: [] });
    expect([answer.status, answer.headers['parley-ignored']]).toEqual([200, undefined]);
    expect([without.status, without.headers['parley-ignored']]).toEqual([200, undefined]);
  });

  it('is kept in a relayed request', async () => {
    claude.script(jsonReply(message));
    const answer = await post(service, { model: 'claude', top_k: 5, ...upload, ...prewarmed });
    expect([answer.status, answer.headers['parley-ignored']]).toEqual([200, undefined]);
    expect(claude.requests.at(-1)?.body).toMatchObject({ top_k: 5, ...upload, ...prewarmed });
  });

  it('is listed if another protocol replaces the first upstream, or addons require a translation', async () => {
    claude.script(errorReply(503));
    gpt.script(jsonReply(plainCompletion('hi')));
    const both = await post(service, { model: 'both', ...upload });
    claude.script(jsonReply(message));
    const helped = await post(service, { model: 'helped', container: 'c' });
    expect([both.status, both.headers['parley-ignored']]).toEqual([200, 'content.container_upload']);
    expect([helped.status, helped.headers['parley-ignored']]).toEqual([200, 'container']);
  });
});

describe('field whose meaning a translation would change', () => {
  it.each([
    ['gpt', upload, 'messages.0.content.0.type: is container_upload'],
    ['app', upload, 'messages.0.content.0.type: is container_upload'],
    ['quick', upload, 'messages.0.content.0.type: is container_upload'],
    ['gpt', prewarmed, 'max_tokens: is 0'],
  ])('is rejected by %s: %j', async (model, body, words) => {
    const count = gpt.requests.length;
    const answer = await post(service, { model, ...body });
    const error = { type: 'invalid_request_error', message: expect.stringContaining(words) };
    expect([answer.status, answer.json]).toMatchObject([400, { type: 'error', error }]);
    expect(gpt.requests.length).toBe(count);
  });

  it('is also rejected in a token count', async () => {
    const { max_tokens: _bound, ...body } = createBody({ model: 'gpt', ...upload }) as { max_tokens: number };
    const answer = await service.sendRequest({ path: '/msgapi/v1/messages/count_tokens', headers: withKey(), body });
    expect(answer.status).toBe(400);
  });
});

describe('relayed reply', () => {
  const upstreamHeaders = {
    'request-id': 'req_011C',
    'anthropic-ratelimit-requests-remaining': '41',
    'anthropic-organization-id': 'org-secret',
    'set-cookie': 'a=b',
    'x-other': 'c',
  };

  it.each([false, true])('has the upstream headers for clients (streamed: %s)', async (stream) => {
    claude.script(({ response }) => {
      const type = stream ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type, ...upstreamHeaders });
      response.end(stream ? toStream() : JSON.stringify(message));
    });
    const { headers } = await post(service, { model: 'claude', stream }, { 'x-request-id': 'ours' });
    expect(headers).toMatchObject({
      'request-id': 'req_011C',
      'x-request-id': 'ours',
      'anthropic-ratelimit-requests-remaining': '41',
    });
    for (const name of ['anthropic-organization-id', 'set-cookie', 'x-other']) expect(headers).not.toHaveProperty(name);
  });

  it('with 429 has Retry-After of the upstream and the request ID of Parley', async () => {
    const error = { type: 'rate_limit_error', message: 'slow down' };
    claude.script(jsonReply({ type: 'error', error }, 429, { 'retry-after': '17', 'request-id': 'req_x' }));
    const { status, headers } = await post(service, { model: 'claude' }, { 'x-request-id': 'ours' });
    expect([status, headers['retry-after'], headers['request-id']]).toEqual([429, '17', 'ours']);
  });
});

function toStream(): string {
  const toNamedEvent = (event: { type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  return toNamedEvent({ type: 'message_start', message } as never) + toNamedEvent({ type: 'message_stop' });
}
