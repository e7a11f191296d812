import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

let gpt: ScriptedUpstream;
let claude: ScriptedUpstream;
let service: TestService;

const message = {
  ...{ id: 'msg_up', type: 'message', role: 'assistant', model: 'up', content: [] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 1 } },
};

beforeAll(async () => {
  gpt = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  claude = await startScriptedUpstream(jsonReply(message));
  service = await startService({
    models: {
      gpt: { upstreams: [{ endpoint: gpt.endpoint, model: 'up' }] },
      claude: { upstreams: [{ protocol: 'anthropic', endpoint: claude.endpoint, key: 'k', model: 'up' }] },
    },
  });
});

afterAll(async () => {
  await service.close();
  await gpt.close();
  await claude.close();
});

const absent = Object.fromEntries(
  [
    ...['tool_choice', 'tools', 'system', 'stop_sequences', 'metadata', 'temperature', 'top_p', 'top_k'],
    ...['stream', 'thinking', 'output_config'],
  ].map((field) => [field, null]),
);
const messages = [{ role: 'user', content: 'Hello' }];

async function captureRequest(model: string, fields: object, path = 'messages') {
  const body = { model, max_tokens: 5, messages, ...fields };
  const answer = await service.sendRequest({ path: `/msgapi/v1/${path}`, headers: withKey(), body });
  expect(answer.status).toBe(200);
  expect(answer.headers).not.toHaveProperty('parley-ignored');
  const upstream = model === 'gpt' ? gpt : claude;
  return upstream.requests.at(-1)?.body;
}

describe('null in a message request', () => {
  it('counts as an absent field, relayed or translated', async () => {
    expect(await captureRequest('claude', absent)).toEqual({ model: 'up', max_tokens: 5, messages });
    expect(await captureRequest('gpt', absent)).toEqual({ model: 'up', max_tokens: 5, messages });
  });

  it.each(Object.keys(absent))('counts as absent for %s only', async (field) => {
    expect(await captureRequest('claude', { [field]: null })).not.toHaveProperty(field);
  });

  it('is removed from tools, choices, settings, and blocks', async () => {
    const tool = { name: 'f', input_schema: { type: 'object' } };
    const result = { type: 'tool_result', tool_use_id: 't' };
    const use = { type: 'tool_use', id: 't', name: 'f', input: {} };
    const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
    const fields = {
      tools: [{ ...tool, type: null, description: null, cache_control: null }],
      tool_choice: { type: 'auto', name: null, disable_parallel_tool_use: null },
      thinking: { type: 'disabled', budget_tokens: null },
      output_config: { effort: null, format: null },
      metadata: { user_id: null },
      system: [{ type: 'text', text: 's', cache_control: null }],
      messages: [
        { role: 'user', content: [{ ...document, title: null, context: null, citations: null }], parley: null },
        { role: 'assistant', content: [use] },
        { role: 'user', content: [{ ...result, content: null, is_error: null, cache_control: null }] },
      ],
    };
    expect(await captureRequest('claude', fields)).toEqual({
      ...{ model: 'up', max_tokens: 5 },
      tools: [tool],
      tool_choice: { type: 'auto' },
      thinking: { type: 'disabled' },
      output_config: {},
      metadata: {},
      system: [{ type: 'text', text: 's' }],
      messages: [
        { role: 'user', content: [document] },
        { role: 'assistant', content: [use] },
        { role: 'user', content: [result] },
      ],
    });
  });

  it('does not cause an empty list of tools to be sent', async () => {
    for (const model of ['claude', 'gpt'])
      expect(await captureRequest(model, { tools: [], tool_choice: { type: 'auto' } })).toEqual({
        model: 'up',
        max_tokens: 5,
        messages,
      });
  });

  it('is kept in unknown fields', async () => {
    expect(await captureRequest('claude', { container: null })).toHaveProperty('container', null);
  });

  it('counts as absent in a token count', async () => {
    claude.script(jsonReply({ input_tokens: 4 }));
    expect(await captureRequest('claude', { ...absent, max_tokens: null }, 'messages/count_tokens')).toEqual({
      model: 'up',
      messages,
    });
    claude.script(jsonReply(message));
  });

  it.each(['model', 'messages', 'max_tokens'])('is rejected for %s', async (field) => {
    const body = { model: 'claude', max_tokens: 5, messages, [field]: null };
    expect((await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body })).status).toBe(400);
  });
});
