import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { errorReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

/** Acts like the chat template of Qwen, which accepts a single system message, only at the start. */
const strictTemplate: Reply = (exchange) => {
  const { messages } = exchange.received.body as { messages: { role: string }[] };
  const isStrict = messages.slice(1).every(({ role }) => role !== 'system' && role !== 'developer');
  const reply = isStrict
    ? jsonReply(plainCompletion('Hello.'))
    : errorReply(400, {}, { message: 'System message must be at the beginning.' });
  return reply(exchange);
};

beforeAll(async () => {
  upstream = await startScriptedUpstream(strictTemplate);
  const { endpoint, url } = upstream;
  const once = { maxRetryAttempts: 1 };
  service = await startService({
    models: {
      strict: { upstreams: [{ endpoint }], ...once },
      azure: { upstreams: [{ protocol: 'azure', endpoint: `${url}/openai/deployments/x`, apiVersion: '2024-10-21' }], ...once },
      lenient: { upstreams: [{ endpoint, foldSystemMessages: false }], ...once },
    },
    applications: {
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'strict' },
      },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const conversation = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi.' },
  { role: 'developer', content: [{ type: 'text', text: 'Use English.' }] },
  { role: 'user', content: 'Again' },
];

function getLastMessages(): unknown {
  return upstream.requests.at(-1)?.body.messages;
}

describe('a strict chat template', () => {
  it.each(['strict', 'azure'])('receives one leading system message: %s', async (model) => {
    const { status } = await service.chat(model, { messages: conversation });
    expect(status).toBe(200);
    expect(getLastMessages()).toEqual([
      { role: 'system', content: 'Be brief.\n\nUse English.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'Again' },
    ]);
  });

  it('keeps the parts of system messages if one has more fields than its text', async () => {
    const marked = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } };
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'developer', content: [marked] },
      { role: 'developer', content: 'Now.' },
    ];
    await service.chat('strict', { messages });
    expect(getLastMessages()).toEqual([
      { role: 'developer', content: [marked, { type: 'text', text: 'Now.' }] },
      { role: 'user', content: 'Hello' },
    ]);
  });

  it('receives the system blocks of the Messages API, also those inside the conversation, as one message', async () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'system', content: 'Use English.' },
    ];
    const body = { model: 'strict', max_tokens: 10, system: [{ type: 'text', text: 'Be brief.' }], messages };
    const { status } = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(callerKey), body });
    expect(status).toBe(200);
    expect(getLastMessages()).toMatchObject([{ role: 'system', content: 'Be brief.\n\nUse English.' }, { role: 'user' }]);
  });

  it('receives instructions and developer messages of the Responses API as one message', async () => {
    const input = [
      { role: 'developer', content: 'Use English.' },
      { role: 'user', content: 'Hello' },
    ];
    const body = { model: 'strict', store: false, instructions: 'Be brief.', input };
    const { status } = await service.sendRequest({ path: '/v1/responses', headers: withKey(callerKey), body });
    expect(status).toBe(200);
    expect(getLastMessages()).toMatchObject([{ role: 'system', content: 'Be brief.\n\nUse English.' }, { role: 'user' }]);
  });

  // The chat templates of Mistral and Gemma require that user and assistant alternate. Codex starts with two user messages.
  it('receives consecutive user messages of the Responses API as one', async () => {
    const text = (words: string) => [{ type: 'input_text', text: words }];
    const input = [
      { type: 'message', role: 'developer', content: text('Use English.') },
      { type: 'message', role: 'user', content: text('<environment_context>') },
      { type: 'message', role: 'user', content: text('Hello') },
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] },
      { type: 'message', role: 'user', content: text('Again') },
    ];
    const request = (model: string) =>
      service.sendRequest({ path: '/v1/responses', headers: withKey(callerKey), body: { model, store: false, input } });
    await request('strict');
    expect(getLastMessages()).toMatchObject([
      { role: 'system', content: 'Use English.' },
      { role: 'user', content: [{ text: '<environment_context>\n\nHello' }, { type: 'image_url' }] },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'Again' },
    ]);
    await request('lenient');
    expect(getLastMessages()).toHaveLength(6);
  });

  it('receives consecutive user messages of the chat API unchanged', async () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'Again' },
    ];
    await service.chat('strict', { messages });
    expect(getLastMessages()).toEqual(messages);
  });

  it('receives one system message from a quick app if the user also sends one', async () => {
    const { status } = await service.chat('quick', { messages: conversation });
    expect(status).toBe(200);
    expect(getLastMessages()).toMatchObject([{ role: 'system' }, { role: 'user' }, { role: 'assistant' }, { role: 'user' }]);
  });

  it('receives unchanged messages if they need no folding', async () => {
    const long = 'x'.repeat(20_000);
    const written = `[ {"role":"system","content":"Be brief."}, {"content":"${long}","role":"user"} ]`;
    await service.sendRequest({
      path: '/v1/chat/completions',
      headers: withKey(),
      body: `{"model":"strict","messages":${written}}`,
    });
    expect(upstream.requests.at(-1)?.text).toContain(written);
  });
});

describe('foldSystemMessages: false', () => {
  it('keeps system messages in place', async () => {
    const { status } = await service.chat('lenient', { messages: conversation });
    expect([status, getLastMessages()]).toEqual([400, conversation]);
  });
});
