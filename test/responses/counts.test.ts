import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finish, plainReply, text } from '#test/chunks.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { createClient, post, readResponse } from './support.ts';

/** 12,800 characters, about 3,200 tokens. */
const args = JSON.stringify({ text: 'x'.repeat(12_789) });
const call = { type: 'function_call' as const, call_id: 'call_1', name: 'f', arguments: args };
const output = { type: 'function_call_output' as const, call_id: 'call_1', output: 'ok' };
const input = [call, output, { role: 'user' as const, content: 'Go on.' }];
const messages = [
  { role: 'user', content: 'Hi' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
];

describe('arguments of tool calls', () => {
  let upstream: ScriptedUpstream;
  let service: TestService;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const upstreams = [{ endpoint: upstream.endpoint, key: 'k', model: 'up' }];
    service = await startService({
      models: {
        m: { upstreams, maxRetryAttempts: 1, features: { tokenize: true } },
        small: { upstreams, maxRetryAttempts: 1, limits: { maxPromptTokens: 1000 } },
      },
      keys: { [callerKey]: { project: 'p' } },
    });
  });
  afterAll(async () => {
    await service.close();
    await upstream.close();
  });

  it('are included in input_tokens', async () => {
    const { input_tokens } = await createClient(service).responses.inputTokens.count({ model: 'm', input });
    expect(input_tokens).toBeGreaterThan(3000);
    expect(input_tokens).toBeLessThan(3500);
  });

  it('are included in /tokenize', async () => {
    const path = '/v1/deployments/m/tokenize';
    const answered = await service.sendRequest({
      path,
      headers: withKey(),
      body: { inputs: [{ type: 'request', value: { messages } }] },
    });
    expect(JSON.parse(answered.text).outputs[0].token_count).toBeGreaterThan(3000);
  });

  it('are included in the prompt size for truncation', async () => {
    const rejection = await post(service, { model: 'small', input });
    expect([rejection.status, JSON.parse(rejection.text).error.code]).toEqual([400, 'context_length_exceeded']);
    upstream.script(eventsReply(...plainReply('Fine.')));
    readResponse(await post(service, { model: 'small', input, truncation: 'auto' }));
    expect((await upstream.request(upstream.requests.length - 1)).body.messages).toEqual([{ role: 'user', content: 'Go on.' }]);
  });

  it('are included in the estimated usage if the upstream reports none', async () => {
    upstream.script(eventsReply(text('Fine.'), finish()));
    const { usage } = readResponse(await post(service, { model: 'm', input }));
    expect(usage.input_tokens).toBeGreaterThan(3000);
  });
});

describe('input_tokens', () => {
  it('counts input that is longer than the model accepts', async () => {
    await using upstream = await startScriptedUpstream();
    const upstreams = [{ endpoint: upstream.endpoint, key: 'k', model: 'up' }];
    await using service = await startService({ models: { small: { upstreams, limits: { maxPromptTokens: 1000 } } } });
    const { input_tokens } = await createClient(service).responses.inputTokens.count({
      model: 'small',
      input: 'x'.repeat(40_000),
    });
    expect(input_tokens).toBe(10_000);
  });
});
