import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, piecesReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const upstreams = [{ endpoint: upstream.endpoint, model: 'upstream-name', key: 'upstream-key' }];
  service = await startService({
    models: {
      m: { upstreams },
      tuned: { upstreams, defaults: { temperature: 0.25, stop: ['END'], seed: 7, nested: { a: 1 } } },
    },
    addons: { weather: { url: 'http://127.0.0.1:9/openapi.json' } },
    applications: { app: { endpoint: `${upstream.url}/app/run?tenant=1`, defaults: { temperature: 0.5 } } },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

/** Returns the upstream request for a client request. */
async function captureRequest(body: object, deployment = 'm'): Promise<{ [key: string]: unknown }> {
  const answer = await service.chat(deployment, body);
  expect(answer.text).toContain('hi');
  return upstream.requests.at(-1)?.body ?? expect.unreachable();
}

const everything = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'Be kind.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": 1.0}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
    { role: 'assistant', content: 'A cat.', refusal: null, audio: { id: 'x' } },
    { role: 'user', content: 'Sure?', cache_control: { type: 'ephemeral' } },
  ],
  tools: [
    {
      type: 'function',
      function: { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} }, strict: true },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object', additionalProperties: false } } },
  seed: 42,
  max_completion_tokens: 100,
  temperature: 0,
  top_p: 1,
  n: 1,
  stop: null,
  max_tokens: 5,
  presence_penalty: -2,
  frequency_penalty: 2,
  logit_bias: { 50256: -100 },
  user: 'u-1',
  reasoning_effort: 'high',
  metadata: { deep: { er: [1, { x: null }] }, constructor: 'kept' },
  extra_null: null,
};

/** Fields that clients serialize as null if they are not set. */
const nullable = [
  ...['model', 'stream', 'temperature', 'top_p', 'n', 'stop', 'max_tokens', 'presence_penalty', 'frequency_penalty'],
  ...['logit_bias', 'user', 'functions', 'function_call', 'addons', 'tools', 'tool_choice', 'parallel_tool_calls'],
  ...['response_format', 'seed', 'stream_options', 'max_completion_tokens', 'reasoning_effort', 'logprobs', 'metadata'],
];

describe('number beyond the range of JavaScript', () => {
  const largeNumbers = '{"id":9007199254740993,"far":-1e400,"list":[12345678901234567890]}';
  const send = async (deployment: string, body: string): Promise<string> =>
    (await fetch(service.url + getChatPath(deployment), { method: 'POST', headers: withKey(), body })).text();

  it('is forwarded and returned unchanged, streamed or not', async () => {
    const messages = `[{"role":"user","content":"a"},{"role":"assistant","content":"b","custom_content":{"state":${largeNumbers}}},{"role":"user","content":"c"}]`;
    const delta = `{"role":"assistant","content":"hi","custom_content":{"state":${largeNumbers}}}`;
    const event = `{"id":"r","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":${delta},"finish_reason":"stop"}]}`;
    upstream.script(piecesReply(`data: ${event}\n\n`, 'data: [DONE]\n\n'));
    for (const stream of [true, false]) {
      const answer = await send('app', `{"messages":${messages},"seed":9007199254740993,"stream":${stream}}`);
      expect(answer).toContain(`"state":${largeNumbers}`);
      expect(upstream.requests.at(-1)?.text).toContain(`"state":${largeNumbers}`);
      expect(upstream.requests.at(-1)?.text).toContain('"seed":9007199254740993');
    }
    upstream.script(jsonReply(plainCompletion('hi')));
  });

  it('is rejected for a field that must be a number', async () => {
    expect(await send('m', '{"messages":[{"role":"user","content":"a"}],"temperature":1e400}')).toContain('temperature must be');
  });
});

describe('empty list of addons', () => {
  it('is sent to applications but not to models, which do not support addons', async () => {
    expect(await captureRequest({ messages: hello, addons: [] })).not.toHaveProperty('addons');
    expect(await captureRequest({ messages: hello, addons: [] }, 'app')).toHaveProperty('addons', []);
  });
});

describe('request to an upstream', () => {
  it('is unchanged except for the model name of the upstream', async () => {
    const { stop: _null, ...sent } = everything;
    const messages = [{ role: 'system', content: 'Be brief.\n\nBe kind.' }, ...sent.messages.slice(2)];
    const expected = { ...sent, messages, model: 'upstream-name' };
    expect(await captureRequest({ ...everything, model: 'regardless of the value of the caller' })).toEqual(expected);
  });

  it('has the model name of the upstream even if the client sends none', async () => {
    expect(await captureRequest({ messages: hello })).toEqual({ messages: hello, model: 'upstream-name' });
  });

  it.each(['m', 'app'])('requests usage for a stream of %s', async (deployment) => {
    for (const stream_options of [undefined, null, {}, { include_usage: false }, { include_usage: null }, 'none', []]) {
      const sent = await captureRequest({ messages: hello, stream: true, stream_options }, deployment);
      expect(sent.stream_options).toEqual({ include_usage: true });
    }
    const options = { include_usage: false, include_obfuscation: false, further: [1] };
    const sent = await captureRequest({ messages: hello, stream: true, stream_options: options }, deployment);
    expect(sent.stream_options).toEqual({ ...options, include_usage: true });
  });

  it('has no stream_options unless it is a stream', async () => {
    expect(await captureRequest({ messages: hello, stream_options: null })).not.toHaveProperty('stream_options');
  });

  it('has no other additional field for a stream', async () => {
    expect(await captureRequest({ messages: hello, stream: true })).toEqual({
      messages: hello,
      model: 'upstream-name',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('has the defaults of the deployment only for absent fields', async () => {
    expect(await captureRequest({ messages: hello, temperature: 1, nested: { b: 2 } }, 'tuned')).toEqual({
      messages: hello,
      model: 'upstream-name',
      temperature: 1,
      stop: ['END'],
      seed: 7,
      nested: { b: 2 },
    });
  });

  it('has no nulls that the API treats as absent', async () => {
    const nulls = Object.fromEntries(nullable.map((field) => [field, null]));
    const messages = [
      { role: 'user', content: 'Hello', name: null, custom_content: null, function_call: null, tool_calls: null },
    ];
    expect(await captureRequest({ messages, ...nulls })).toEqual({ messages: hello, model: 'upstream-name' });
    expect(await captureRequest({ messages, ...nulls }, 'app')).toEqual({ messages: hello, temperature: 0.5 });
    expect((await captureRequest({ messages: hello, temperature: null }, 'tuned')).temperature).toBe(0.25);
  });

  it('has no empty lists of functions and tools, which are accepted together', async () => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    expect(await captureRequest({ messages: hello, functions: [], tools })).toEqual({
      messages: hello,
      tools,
      model: 'upstream-name',
    });
    expect(await captureRequest({ messages: hello, functions: [], tools: [] })).toEqual({
      messages: hello,
      model: 'upstream-name',
    });
  });

  it('has the last value of a duplicate key, which is the validated value', async () => {
    const twice =
      '{"messages":[{"role":"user","content":"first"}],"messages":[{"role":"user","content":"second"}],"n":500,"n":1}';
    const answer = await service.sendRequest({
      path: '/openai/deployments/m/chat/completions',
      headers: { 'api-key': 'caller-key', 'content-type': 'application/json' },
      body: twice,
    });
    expect(answer.status).toBe(200);
    expect(upstream.requests.at(-1)?.text.match(/"messages"/g)).toHaveLength(1);
    expect(upstream.requests.at(-1)?.body).toMatchObject({ messages: [{ content: 'second' }], n: 1 });
  });

  it.each(['Messages', 'MODEL', 'Stream', 'max_Tokens'])(
    'is rejected with %s, which differs from a known field only by case',
    async (key) => {
      const answer = await service.chat('m', { messages: hello, [key]: 1 });
      expect([answer.status, answer.error.param]).toEqual([400, key]);
    },
  );

  it('is sent to the configured URL with the configured key', async () => {
    const body = await captureRequest({
      messages: hello,
      api_base: 'http://evil.example',
      base_url: 'http://evil.example',
      api_key: 'stolen',
      headers: { authorization: 'Bearer x' },
    });
    expect(body.api_base).toBe('http://evil.example');
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer upstream-key');
  });

  it('keeps any text', async () => {
    const content = `é 😀 \u2028 \u0000 \ud83d "\\/ \n\t </script> ${'x'.repeat(100_000)}`;
    const [message] = (await captureRequest({ messages: [{ role: 'user', content }] })).messages as { content: string }[];
    expect(message?.content).toBe(content);
  });

  it('has a content length and is JSON', async () => {
    await captureRequest({ messages: hello });
    const { headers, text, method } = upstream.requests.at(-1) ?? expect.unreachable();
    expect(method).toBe('POST');
    expect(headers['content-type']).toBe('application/json');
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text));
    expect(headers.traceparent).toMatch(/^00-/);
  });
});

describe('request to an application', () => {
  it('is unchanged except for defaults, and is sent to the configured URL', async () => {
    const messages = [
      {
        role: 'user',
        content: 'Look',
        custom_content: { attachments: [{ index: 0, type: 'image/png', url: 'files/b/x.png', title: 't' }] },
      },
      {
        role: 'assistant',
        content: 'Yes',
        custom_content: {
          state: { any: [1, { deep: null }] },
          attachments: [],
          stages: [{ index: 0, name: 's', status: 'completed' }],
        },
      },
      { role: 'user', content: '', custom_content: { completed_control: { label: 'OK', value: { a: 1 } } } },
    ];
    const addons = [{ name: 'weather' }];
    expect(await captureRequest({ messages, addons, model: 'app', unknown: { x: 1 } }, 'app')).toEqual({
      messages,
      addons,
      model: 'app',
      unknown: { x: 1 },
      temperature: 0.5,
    });
    expect(upstream.requests.at(-1)?.path).toBe('/app/run?tenant=1');
  });
});
