import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createUpstream, recorded } from '#test/vendor-replies.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const once = { maxRetryAttempts: 1 };
  service = await startService({
    models: {
      bedrock: { upstreams: [createUpstream('bedrock', upstream.url)], ...once },
      gemini: { upstreams: [createUpstream('gemini', upstream.url)], ...once },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const search = { type: 'web_search_20250305', name: 'web_search' };
const own = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };

describe.each(['bedrock', 'gemini'] as const)('tool that another vendor runs, sent to %s', (model) => {
  it('is omitted and listed in Parley-Ignored, while function tools are sent', async () => {
    upstream.script(recorded(model, 'text'));
    const { status, headers } = await service.chat(model, { messages: hello, tools: [search, own] });
    expect([status, headers['parley-ignored']]).toEqual([200, 'tools.web_search_20250305']);
    const sent = upstream.requests.at(-1)?.text;
    expect([sent?.includes('look'), sent?.includes('web_search')]).toEqual([true, false]);
  });

  it.each([
    { tools: [search], tool_choice: 'required' },
    { tools: [search, own], tool_choice: { type: 'function', function: { name: 'web_search' } } },
  ])('is rejected if tool_choice requires it: %j', async (fields) => {
    const count = upstream.requests.length;
    const { status, error } = await service.chat(model, { messages: hello, ...fields });
    expect([status, error.param, upstream.requests.length]).toEqual([400, 'tool_choice', count]);
  });
});
