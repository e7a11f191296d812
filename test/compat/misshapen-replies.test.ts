import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion, usage } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

allowNonconformingUpstreams();

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const upstreams = [{ endpoint: upstream.endpoint }];
  service = await startService({
    models: { m: { upstreams, maxRetryAttempts: 1 }, vectors: { type: 'embedding', upstreams, maxRetryAttempts: 1 } },
    applications: { app: { endpoint: `${upstream.url}/app` } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const createFields = (message: unknown, reason = 'stop') => ({ choices: [{ index: 0, message, finish_reason: reason }] });
const role = delta({ role: 'assistant', content: '' });

describe.each(['m', 'app'])('invalid JSON reply of %s', (deployment) => {
  it.each([
    ['a null message', createFields(null)],
    ['a string message', createFields('hi')],
    ['no message', { choices: [{ index: 0, finish_reason: 'stop' }] }],
    ['content that is a number', createFields({ role: 'assistant', content: 7 })],
    ['content that is an object', createFields({ role: 'assistant', content: { text: 'hi' } })],
    ['content that is a list of strings', createFields({ role: 'assistant', content: ['hi'] })],
    ['tool calls that are an object', createFields({ role: 'assistant', tool_calls: { 0: {} } })],
    ['tool calls that are strings', createFields({ role: 'assistant', tool_calls: ['call'] })],
    [
      'a tool call whose function is a string',
      createFields({ role: 'assistant', tool_calls: [{ function: 'f' }] }, 'tool_calls'),
    ],
    ['a function call that is a string', createFields({ role: 'assistant', function_call: 'f' }, 'function_call')],
    ['null choices', { choices: null }],
    ['string choices', { choices: 'hi' }],
    ['a null choice', { choices: [null] }],
    ['no choice', { choices: [] }],
  ])('is an upstream error: %s', async (_what, fields) => {
    for (const stream of [false, true]) {
      upstream.script(jsonReply(plainCompletion('', fields)));
      const { status, error } = await service.chat(deployment, { messages: hello, stream });
      expect([status, error.code]).toEqual([500, 'upstream_failed']);
      service.forgetFailures();
    }
  });

  it('is accepted without a message after content_filter', async () => {
    upstream.script(jsonReply(plainCompletion('', { choices: [{ index: 0, finish_reason: 'content_filter' }] })));
    const { status, completion } = await service.chat(deployment, { messages: hello });
    expect([status, completion.choices[0]?.finish_reason]).toEqual([200, 'content_filter']);
  });
});

describe('invalid stream event', () => {
  const event = (choices: unknown) => ({ ...role, choices });

  it.each([
    ['content that is a number', event([{ index: 0, delta: { content: 7 } }])],
    ['a string delta', event([{ index: 0, delta: 'hi' }])],
    ['string choices', event('hi')],
    ['choices that are an object', event({ 0: {} })],
    ['tool calls that are an object', event([{ index: 0, delta: { tool_calls: { 0: {} } } }])],
    ['a null tool call', event([{ index: 0, delta: { tool_calls: [null] } }])],
  ])('fails the stream: %s', async (_what, invalidEvent) => {
    upstream.script(eventsReply(role, invalidEvent, finish(), usage(1, 1)));
    const { error, chunks } = await (await service.stream('m', { messages: hello })).readRest();
    expect(error?.code).toBe('upstream_failed');
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason: reason }) => reason))).toBe(false);
  });
});

describe('invalid usage', () => {
  it.each([
    { prompt_tokens: -7, completion_tokens: -5, total_tokens: -12 },
    { prompt_tokens: 7, completion_tokens: -5, total_tokens: 2 },
    { prompt_tokens: '7', completion_tokens: '5' },
    { prompt_tokens: 1e300, completion_tokens: 1 },
  ])('is replaced by an estimate: %j', async (counts) => {
    upstream.script(jsonReply(plainCompletion('four words are here', { usage: counts })));
    const { completion } = await service.chat('m', { messages: hello });
    const [item] = completion.statistics?.usage_per_model ?? [];
    expect(item?.estimated).toBe(true);
    expect(item?.completion_tokens).toBeGreaterThan(0);
    expect(completion.usage?.completion_tokens).toBe(item?.completion_tokens);
  });
});

describe('embeddings reply', () => {
  const vector = (embedding: unknown, index = 0) => ({ object: 'embedding', index, embedding });

  it.each([
    ['no data', { object: 'list' }],
    ['null data', { data: null }],
    ['data that are an object', { data: { 0: vector([1]), 1: vector([1]) } }],
    ['null items', { data: [null, null] }],
    ['an empty vector', { data: [vector([]), vector([], 1)] }],
    ['a vector of strings', { data: [vector(['1']), vector(['1'], 1)] }],
    ['a vector with a null', { data: [vector([1, null]), vector([1, 2], 1)] }],
    ['an error', { error: { message: 'CUDA out of memory' } }],
    ['another error', { detail: 'CUDA out of memory' }],
  ])('is an upstream error if it is invalid: %s', async (_what, reply) => {
    upstream.script(jsonReply({ model: 'x', usage: { prompt_tokens: 1, total_tokens: 1 }, ...reply }));
    const request = { path: '/v1/embeddings', headers: withKey(), body: { model: 'vectors', input: ['a', 'b'] } };
    const { status, error } = await service.sendRequest(request);
    expect([status, error.code]).toEqual([500, 'upstream_failed']);
  });

  it.each([
    ['a string', 'a', 1],
    ['tokens', [1, 2, 3], 1],
    ['several lists of tokens', [[1], [2, 3]], 2],
  ])('is accepted if it has a vector for each input: %s', async (_what, input, count) => {
    upstream.script(jsonReply({ object: 'list', data: Array.from({ length: count }, (_, index) => vector([0.5, 1], index)) }));
    const { status } = await service.sendRequest({
      path: '/v1/embeddings',
      headers: withKey(),
      body: { model: 'vectors', input },
    });
    expect(status).toBe(200);
  });
});
