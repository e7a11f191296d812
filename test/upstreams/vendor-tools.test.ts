import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createRecordedReply, createUpstream } from '#test/vendor-replies.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const once = { maxRetryAttempts: 1 };
  service = await startService({
    models: {
      bedrock: { upstreams: [createUpstream('bedrock', upstream.url)], ...once },
      gemini: { upstreams: [createUpstream('gemini', upstream.url)], ...once },
      claude: { upstreams: [{ protocol: 'anthropic', endpoint: upstream.endpoint, key: 'upstream-key' }], ...once },
      answers: { upstreams: [{ endpoint: upstream.endpoint, api: 'responses' }], ...once },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const search = { type: 'web_search_20250305', name: 'web_search' };
const message = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'Hi.' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
};
const response = {
  ...{ id: 'r', object: 'response', created_at: 1, model: 'answers', status: 'completed' },
  output: [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi.' }] }],
};
const own = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };

describe.each([
  ['bedrock', search, createRecordedReply('bedrock', 'text')],
  ['gemini', search, createRecordedReply('gemini', 'text')],
  ['claude', { type: 'web_search', name: 'web_search' }, jsonReply(message)],
  ['answers', search, jsonReply(response)],
] as const)('tool that another vendor runs, sent to %s', (model, foreign, reply) => {
  it('is omitted and listed in Parley-Ignored, while function tools are sent', async () => {
    upstream.script(reply);
    const { status, headers } = await service.chat(model, { messages: hello, tools: [foreign, own] });
    expect([status, headers['parley-ignored']]).toEqual([200, `tools.${foreign.type}`]);
    const sent = upstream.requests.at(-1)?.text;
    expect([sent?.includes('look'), sent?.includes('web_search')]).toEqual([true, false]);
  });

  it.each([
    { tools: [foreign], tool_choice: 'required' },
    { tools: [foreign, own], tool_choice: { type: 'function', function: { name: 'web_search' } } },
  ])('is rejected if tool_choice requires it: %j', async (fields) => {
    const count = upstream.requests.length;
    const { status, error } = await service.chat(model, { messages: hello, ...fields });
    expect([status, error.param, upstream.requests.length]).toEqual([400, 'tool_choice', count]);
  });
});
