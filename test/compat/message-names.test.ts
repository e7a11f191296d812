import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('Hi.')));
  const { endpoint, url } = upstream;
  service = await startService({
    models: {
      openai: { upstreams: [{ endpoint }] },
      azure: { upstreams: [{ protocol: 'azure', endpoint: `${url}/openai/deployments/x`, apiVersion: '2024-10-21' }] },
      adapter: { protocol: 'dial', endpoint: `${url}/adapter`, upstreams: [{ key: 'adapter-key' }] },
    },
    applications: { application: { endpoint: `${url}/app` } },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

describe('name of a message', () => {
  it.each([
    ['openai', 'research-agent.ü'],
    ['azure', 'research-agent__'],
    ['application', 'research_agent__'],
    ['adapter', 'research_agent__'],
  ])('reaches %s as %s', async (model, sent) => {
    const messages = [
      { role: 'user', name: 'research-agent.ü', content: 'Hello' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f-g', arguments: '{}' } }],
      },
      { role: 'tool', name: 'f-g', tool_call_id: 'c', content: '1' },
    ];
    const { status } = await service.chat(model, { messages });
    const body = upstream.requests.at(-1)?.body as { messages: { name?: string }[] } | undefined;
    expect([status, body?.messages[0]?.name, body?.messages[2]?.name]).toEqual([200, sent, 'f-g']);
  });

  it('is rejected with white space', async () => {
    const { status, error } = await service.chat('openai', { messages: [{ role: 'user', name: 'a b', content: 'Hello' }] });
    expect([status, error.param]).toEqual([400, 'messages[0].name']);
  });
});
