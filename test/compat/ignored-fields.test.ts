import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { errorReply, eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { quickApp } from '../quick-apps/support.ts';

let gpt: ScriptedUpstream;
let claude: ScriptedUpstream;
let service: TestService;

const message = {
  ...{ id: 'msg_up', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] },
  ...{ stop_reason: 'end_turn', usage: { input_tokens: 3, output_tokens: 1 } },
};

beforeAll(async () => {
  gpt = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  claude = await startScriptedUpstream(jsonReply(message));
  const toGpt = { endpoint: gpt.endpoint };
  const toClaude = { protocol: 'anthropic', endpoint: claude.endpoint, key: 'k' };
  service = await startService({
    models: {
      model: { upstreams: [toGpt] },
      claude: { upstreams: [toClaude], defaults: { seed: 7 } },
      both: { upstreams: [toClaude, { ...toGpt, tier: 1 }] },
    },
    applications: {
      app: quickApp({ client_toolset: [{ name: 'own', description: 'Own.', parameters: [] }] }),
      hosted: { endpoint: `${gpt.url}/hosted` },
    },
  });
});

afterAll(async () => {
  await service.close();
  await gpt.close();
  await claude.close();
});

const paths = (deployment: string): string[] => [
  '/v1/chat/completions',
  '/openai/v1/chat/completions',
  `/openai/deployments/${deployment}/chat/completions`,
  `/compat/deployments/${deployment}/chat/completions/2024-10-21`,
];

async function chat(deployment: string, fields: object, path = '/v1/chat/completions'): Promise<TestResponse> {
  service.forgetFailures();
  const answer = await service.sendRequest({ path, headers: withKey(), body: { model: deployment, messages: hello, ...fields } });
  expect(answer.status).toBe(200);
  return answer;
}

const listIgnored = async (deployment: string, fields: object, path?: string) =>
  (await chat(deployment, fields, path)).headers['parley-ignored'];

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const force = (name: string) => ({ type: 'function', function: { name } });

describe('Parley-Ignored', () => {
  it('lists tools that are not functions, which a quick app drops, on each path, streamed or not', async () => {
    gpt.script(eventsReply(...plainReply('hi')));
    const custom = { type: 'custom', custom: { name: 'c' } };
    for (const path of paths('app'))
      for (const stream of [false, true]) {
        const ignored = await listIgnored('app', { tools: [...tools, custom], tool_choice: custom, stream }, path);
        expect(ignored).toBe('tools, tool_choice');
        expect(gpt.requests.at(-1)?.text).not.toContain('"c"');
      }
  });

  it('lists a forced choice that a quick app ignores, and no field that it uses', async () => {
    gpt.script(eventsReply(...plainReply('hi')));
    expect(await listIgnored('app', { tool_choice: force('f') })).toBe('tool_choice');
    expect(await listIgnored('app', { tool_choice: 'required' })).toBe('tool_choice');
    expect(await listIgnored('app', { tool_choice: force('own') })).toBeUndefined();
    expect(gpt.requests.at(-1)?.body.tool_choice).toEqual(force('own'));
    expect(await listIgnored('app', { tools: [], tool_choice: 'auto', seed: 1, functions: [{ name: 'g' }] })).toBeUndefined();
    expect(gpt.requests.at(-1)?.text).toContain('"g"');
    expect(await listIgnored('app', { tools, tool_choice: 'required' })).toBeUndefined();
    expect(gpt.requests.at(-1)?.body.tool_choice).toBe('required');
  });

  it('lists the temperature if the quick app configures another', async () => {
    gpt.script(eventsReply(...plainReply('hi')));
    expect(await listIgnored('app', { temperature: 1 })).toBe('temperature');
    expect(await listIgnored('app', { temperature: 0.25 })).toBeUndefined();
  });

  it('lists fields that the API of the upstream does not support', async () => {
    const fields = { seed: 1, logprobs: true, presence_penalty: 0.5, temperature: 1.5, metadata: { a: 'b' }, user: 'u' };
    expect(await listIgnored('claude', fields)).toBe('seed, logprobs, presence_penalty, temperature, metadata');
    expect(claude.requests.at(-1)?.body).not.toHaveProperty('seed');
  });

  it('omits fields without effect, fields that Parley handles, and defaults of the deployment', async () => {
    const fields = { presence_penalty: 0, frequency_penalty: 0, logprobs: false, store: false, top_p: 1, n: 2, functions: [] };
    expect(await listIgnored('claude', fields)).toBeUndefined();
    expect(await listIgnored('claude', { functions: [{ name: 'g' }], stream_options: { include_usage: true } })).toBeUndefined();
  });

  it('depends on the upstream that answers, not on earlier attempts', async () => {
    expect(await listIgnored('both', { seed: 1 })).toBe('seed');
    gpt.script(jsonReply(plainCompletion('hi')));
    claude.script(errorReply(503));
    expect(await listIgnored('both', { seed: 1 })).toBeUndefined();
    expect(gpt.requests.at(-1)?.body.seed).toBe(1);
    claude.script(jsonReply(message));
  });

  it('is absent for models with the same API and for applications', async () => {
    const fields = { tools, tool_choice: force('f'), seed: 1, logit_bias: { 1: 1 }, unheard_of: true };
    for (const deployment of ['model', 'hosted']) expect(await listIgnored(deployment, fields)).toBeUndefined();
  });

  it('lists fields that the translation or the upstream drops', async () => {
    gpt.script(eventsReply(...plainReply('hi')));
    const body = {
      ...{ model: 'app', max_tokens: 5, messages: hello, temperature: 1, top_k: 3 },
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    };
    const answer = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(), body });
    expect([answer.status, answer.headers['parley-ignored']]).toEqual([200, 'top_k, temperature']);
  });
});

describe('response_format json_object', () => {
  const format = { response_format: { type: 'json_object' } };
  const instruction = 'Answer with one JSON object and nothing else';

  it('becomes an instruction after those of the client if the upstream has no JSON mode', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'developer', content: 'Be kind.' }, ...hello];
    for (const stream of [false, true]) {
      if (stream) claude.script(errorReply(400));
      const body = { model: 'claude', messages, ...format, stream };
      const { headers } = await service.sendRequest({ path: '/v1/chat/completions', headers: withKey(), body });
      const sent = claude.requests.at(-1)?.body ?? expect.unreachable();
      const system = sent.system as { text: string }[];
      expect(system.map(({ text }) => text)).toEqual(['Be brief.', 'Be kind.', expect.stringContaining(instruction)]);
      expect(sent).not.toHaveProperty('response_format');
      expect(headers).not.toHaveProperty('parley-ignored');
    }
    claude.script(jsonReply(message));
  });

  it('becomes the only instruction if the client sends no instructions', async () => {
    await chat('claude', format);
    expect(claude.requests.at(-1)?.body).toMatchObject({
      system: [{ text: expect.stringContaining(instruction) }],
      messages: [{ role: 'user' }],
    });
  });

  it('reaches an upstream with JSON mode unchanged, and a schema is translated', async () => {
    gpt.script(jsonReply(plainCompletion('{}')));
    await chat('model', format);
    expect(gpt.requests.at(-1)?.body).toMatchObject({ ...format, messages: hello });
    const json_schema = { name: 's', schema: { type: 'object' } };
    await chat('claude', { response_format: { type: 'json_schema', json_schema } });
    expect(claude.requests.at(-1)?.text).not.toContain(instruction);
    expect(claude.requests.at(-1)?.body.output_config).toEqual({ format: { type: 'json_schema', schema: { type: 'object' } } });
  });
});
