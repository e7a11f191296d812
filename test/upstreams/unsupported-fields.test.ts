import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

allowNonconformingUpstreams();

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint } = upstream;
  const unsupportedFields = ['temperature', 'top_p', 'top_k'];
  service = await startService({
    models: {
      claude: { upstreams: [{ protocol: 'anthropic', endpoint, key: 'k', unsupportedFields, apiVersion: '2026-01-15' }] },
      older: { upstreams: [{ protocol: 'anthropic', endpoint, key: 'k' }] },
      gpt: { upstreams: [{ endpoint, unsupportedFields }], defaults: { top_p: 0.5 } },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const usage = { input_tokens: 3, output_tokens: 1 };
const message = { id: 'msg_up', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], usage };
const sampling = { temperature: 0.5, top_k: 4 };

function sendMessage(model: string, headers: Readonly<Record<string, string>> = {}) {
  const body = { model, max_tokens: 10, messages: hello, ...sampling };
  return service.sendRequest({ path: '/anthropic/v1/messages', headers: { ...withKey(), ...headers }, body });
}

describe('unsupportedFields of an upstream', () => {
  it('are omitted from a relayed request and listed in Parley-Ignored', async () => {
    upstream.script(jsonReply(message));
    const { status, headers } = await sendMessage('claude');
    expect([status, headers['parley-ignored']]).toEqual([200, 'temperature, top_k']);
    expect(upstream.requests.at(-1)?.body).toEqual({ model: 'claude', max_tokens: 10, messages: hello });
  });

  it('are omitted from a translated request and listed in Parley-Ignored', async () => {
    upstream.script(jsonReply(message));
    const { status, headers } = await service.chat('claude', { messages: hello, temperature: 0.5 });
    expect([status, headers['parley-ignored']]).toEqual([200, 'temperature']);
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('temperature');
  });

  it('are omitted from a chat request with their defaults, and only fields of the client are listed', async () => {
    upstream.script(jsonReply(plainCompletion('Hi.')));
    const { status, headers } = await service.chat('gpt', { messages: hello, temperature: 0.5, seed: 1 });
    expect([status, headers['parley-ignored']]).toEqual([200, 'temperature']);
    expect(upstream.requests.at(-1)?.body).toEqual({ model: 'gpt', messages: hello, seed: 1 });
  });

  it('do not change requests to another upstream', async () => {
    upstream.script(jsonReply(message));
    const { headers } = await sendMessage('older');
    expect(headers['parley-ignored']).toBeUndefined();
    expect(upstream.requests.at(-1)?.body).toMatchObject(sampling);
  });
});

describe('apiVersion of an anthropic upstream', () => {
  it.each([
    ['claude', '2026-01-15'],
    ['older', '2023-01-01'],
  ])('sets anthropic-version of %s to %s', async (model, version) => {
    upstream.script(jsonReply(message));
    await sendMessage(model, { 'anthropic-version': '2023-01-01' });
    expect(upstream.requests.at(-1)?.headers['anthropic-version']).toBe(version);
  });

  it('defaults to 2023-06-01 if the configuration and the client specify no version', async () => {
    upstream.script(jsonReply(message));
    await service.chat('older', { messages: hello });
    expect(upstream.requests.at(-1)?.headers['anthropic-version']).toBe('2023-06-01');
  });
});
