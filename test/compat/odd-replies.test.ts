import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion, text, usage } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

allowNonconformingUpstreams();

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService({
    models: { m: { upstreams: [{ endpoint: upstream.endpoint }], maxRetryAttempts: 1 } },
    applications: { app: { endpoint: `${upstream.url}/app` } },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const role = delta({ role: 'assistant', content: '' });
const choices = (value: unknown) => ({ id: 'x', object: 'chat.completion.chunk', created: 1, choices: value });

/** Invalid events that some upstreams send. */
const unusualEvents: readonly (readonly [string, unknown])[] = [
  ['null choices', choices(null)],
  ['no choices', { id: 'x' }],
  ['a null choice', choices([null])],
  ['a null delta', choices([{ index: 0, delta: null, finish_reason: null }])],
  ['no delta', choices([{ index: 0 }])],
  ['no index', choices([{ delta: { content: '' }, finish_reason: null }])],
  ['content that is a number', choices([{ index: 0, delta: { content: 5 } }])],
  ['content of parts', choices([{ index: 0, delta: { content: [{ type: 'text', text: 'x' }] } }])],
  ['null stages', choices([{ index: 0, delta: { custom_content: { stages: null } } }])],
  ['stages that are an object', choices([{ index: 0, delta: { custom_content: { stages: { 0: 'x' } } } }])],
  ['a null stage', choices([{ index: 0, delta: { custom_content: { stages: [null] } } }])],
  ['null tool calls', choices([{ index: 0, delta: { tool_calls: null }, finish_reason: null }])],
  ['string usage', { ...choices([]), usage: 'much' }],
  ['usage with invalid counts', { ...choices([]), usage: { prompt_tokens: '7', completion_tokens: -3, total_tokens: null } }],
  ['statistics that are a list', { ...choices([]), statistics: [] }],
  ['statistics with null', { ...choices([]), statistics: { usage_per_model: null } }],
  ['statistics with a null item', { ...choices([]), statistics: { usage_per_model: [null, { name: 'x', prompt_tokens: 'a' }] } }],
  ['a null error', { ...choices([]), error: null }],
  ['a finish reason that is a number', choices([{ index: 0, delta: {}, finish_reason: 9_007_199_254_740_994 }])],
  ['an unknown finish reason', choices([{ index: 0, delta: {}, finish_reason: 'eos' }])],
];

describe('reply without a model', () => {
  it.each(['m', 'app'])('has the deployment name in each chunk: %s', async (deployment) => {
    service.forgetFailures();
    const nameless = (event: object) => ({ ...event, model: undefined });
    upstream.script(eventsReply(...[role, text('a'), text('b'), text('c'), finish()].map(nameless)));
    const reader = await service.stream(deployment, { messages: hello });
    const { chunks } = await reader.readRest();
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe('abc');
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set([deployment]));
  });

  it.each(['m', 'app'])('has the deployment name in a JSON answer: %s', async (deployment) => {
    service.forgetFailures();
    upstream.script(jsonReply({ ...plainCompletion('fine'), model: undefined }));
    expect((await service.chat(deployment, { messages: hello })).json).toMatchObject({ model: deployment });
  });
});

describe('unusual upstream event', () => {
  it.each(unusualEvents)('with %s fails at most that call, without an internal error', async (_what, event) => {
    for (const deployment of ['m', 'app']) {
      for (const events of [
        [role, text('fine'), event, finish(), usage(1, 1)],
        [event, role, text('fine'), finish()],
      ]) {
        service.forgetFailures();
        upstream.script(eventsReply(...events));
        const reader = await service.stream(deployment, { messages: hello });
        if (reader.status === 200) {
          const { error, isDone, chunks } = await reader.readRest();
          expect(isDone).toBe(true);
          expect(error?.code ?? 'upstream_failed').toBe('upstream_failed');
          if (error === undefined) expect(chunks.at(-1)?.statistics).toBeDefined();
        }
        service.forgetFailures();
        upstream.script(eventsReply(...events));
        const answer = await service.chat(deployment, { messages: hello });
        expect([200, 500]).toContain(answer.status);
        if (answer.status === 500) expect(answer.error.code).toBe('upstream_failed');
        else expect(answer.completion.usage?.total_tokens).toBeTypeOf('number');
      }
    }
  });

  it.each(['[]', 'null', '5', '9007199254740994', '1e400', '"text"', '{"choices":'])(
    'that is %s is an upstream failure',
    async (data) => {
      upstream.script(({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${data}\n\ndata: [DONE]\n\n`);
      });
      service.forgetFailures();
      const answer = await service.chat('m', { messages: hello, stream: true });
      expect([answer.status, answer.error.code]).toEqual([500, 'upstream_failed']);
    },
  );

  it('with an excessive index of a call is accepted', async () => {
    service.forgetFailures();
    upstream.script(
      eventsReply(
        role,
        delta({ tool_calls: [{ index: 1_000_000_000, id: 'x', type: 'function', function: { name: 'f', arguments: '' } }] }),
        finish(),
      ),
    );
    const { status, json } = await service.chat('m', { messages: hello });
    expect(status).toBe(200);
    expect(json).toMatchObject({ choices: [{ message: { tool_calls: [{ id: 'x', function: { name: 'f' } }] } }] });
  });

  it('with __proto__ changes no prototype', async () => {
    service.forgetFailures();
    upstream.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        'data: {"choices":[{"index":0,"delta":{"role":"assistant","__proto__":{"polluted":1}},"finish_reason":null}],"usage":{"__proto__":1}}\n\ndata: [DONE]\n\n',
      );
    });
    await service.chat('m', { messages: hello });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('unusual JSON reply', () => {
  it.each([
    ['no choices', { choices: [] }],
    ['a null choice', { choices: [null] }],
    ['no message', { choices: [{ index: 0, finish_reason: 'stop' }] }],
    ['a null message', { choices: [{ index: 0, message: null, finish_reason: 'stop' }] }],
    ['content that is a number', { choices: [{ index: 0, message: { role: 'assistant', content: 5 }, finish_reason: 'stop' }] }],
    ['string usage', { usage: 'much' }],
    ['usage with string counts', { usage: { prompt_tokens: '7', completion_tokens: '5', total_tokens: '12' } }],
    ['null statistics', { statistics: null }],
    ['statistics that are a list', { statistics: [1] }],
  ])('with %s fails at most that call, without an internal error', async (_what, fields) => {
    for (const deployment of ['m', 'app']) {
      for (const stream of [false, true]) {
        service.forgetFailures();
        upstream.script(jsonReply(plainCompletion('fine', fields)));
        const answer = await service.chat(deployment, { messages: hello, stream });
        expect([200, 500]).toContain(answer.status);
        expect(answer.text).not.toContain('internal_error');
      }
    }
  });

  it('with usage beyond 2^53 fails at most that call, without an internal error', async () => {
    const bytes = JSON.stringify(plainCompletion('fine')).replace('"prompt_tokens":7', '"prompt_tokens":9007199254740994');
    for (const deployment of ['m', 'app']) {
      service.forgetFailures();
      upstream.script(({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(bytes);
      });
      const answer = await service.chat(deployment, { messages: hello });
      expect([200, 500]).toContain(answer.status);
      expect(answer.text).not.toContain('internal_error');
    }
  });
});
