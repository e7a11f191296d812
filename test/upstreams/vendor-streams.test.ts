import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Delta } from '#contract/chat/chunk.ts';
import { hello } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { weatherTool } from '#test/mocked-service.ts';
import { jsonReply, type Reply, type ScriptedUpstream, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createRecordedReply, createUpstream, readRecordedBytes, type Vendor, vendorNames } from '#test/vendor-replies.ts';

const words = 'Grüße, 你好 😀: "a\\b"\nBye.';
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const models = vendorNames.map((vendor) => [
    vendor,
    { upstreams: [createUpstream(vendor, upstream.url)], maxRetryAttempts: 1 },
  ]);
  const applicationTypeSchemaId = 'https://example.org/custom_application_schemas/quickapps';
  const toApp = (model: Vendor) => {
    const applicationProperties = { temperature: 0, instructions: 'Help.', model, applications_as_tools: ['mistral'] };
    return [`${model}-app`, { applicationTypeSchemaId, applicationProperties }];
  };
  service = await startService({
    models: Object.fromEntries(models),
    applications: Object.fromEntries(vendorNames.map(toApp)),
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

async function readStream(vendor: Vendor, reply: Reply, body: object = {}) {
  upstream.script(reply);
  return (await service.stream(vendor, { messages: hello, ...body })).readRest();
}

async function readMessage(vendor: Vendor, reply: Reply, body: object = {}) {
  upstream.script(reply);
  const { completion } = await service.chat(vendor, { messages: hello, ...body });
  const [choice] = completion.choices;
  return { ...completion, choice, message: choice?.message };
}

/** Returns the body of the upstream request that follows if the client sends the message back. */
async function sendBack(vendor: Vendor, message: unknown): Promise<string> {
  const index = upstream.requests.length;
  const { tool_calls: calls = [] } = message as { tool_calls?: { id: string }[] };
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }));
  const tail = results.length === 0 ? [{ role: 'user', content: 'On.' }] : results;
  upstream.script(jsonReply({}, 500));
  await service.chat(vendor, { messages: [...hello, message, ...tail], tools: [weatherTool] });
  return (await upstream.request(index)).text;
}

const joinField = (deltas: Delta[], key: string): string => deltas.map((delta) => delta[key] ?? '').join('');

describe.each(['gemini', 'bedrock', 'mistral'] as const)('stream of %s', (vendor) => {
  it('starts with the role, then sends text, the finish reason, usage, and statistics', async () => {
    const { chunks, content, isDone, usages } = await readStream(vendor, createRecordedReply(vendor, 'text'));
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect([content(), isDone]).toEqual([words, true]);
    expect(chunks.filter(({ choices }) => choices[0]?.finish_reason).map(({ choices }) => choices[0]?.finish_reason)).toEqual([
      'stop',
    ]);
    expect(usages).toMatchObject([{ prompt_tokens: 4, completion_tokens: 9, total_tokens: 13 }]);
    expect(chunks.at(-1)?.statistics?.usage_per_model).toMatchObject([{ model: vendor, total_tokens: 13 }]);
  });

  it('is the same for any split of its bytes', async () => {
    const bytes = readRecordedBytes(vendor, 'text');
    for (const size of [1, 7, 64]) {
      const cut = (bytes: Buffer): Buffer[] =>
        Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) => bytes.subarray(nth * size, (nth + 1) * size));
      if (bytes.length / size > 1500) continue;
      expect((await readStream(vendor, createRecordedReply(vendor, 'text', cut))).content()).toBe(words);
    }
  });

  it('separates thoughts, text, and parallel calls, and counts cached tokens', async () => {
    const { chunks, deltas, content, usages } = await readStream(vendor, createRecordedReply(vendor, 'thinking-tools'), {
      tools: [weatherTool],
    });
    expect(joinField(deltas(), 'reasoning_content')).toMatch(/at once\.$/);
    expect(content()).toBe('I look.');
    const calls = deltas().flatMap(({ tool_calls: each = [] }) => each);
    const joined = [0, 1].map((index) => calls.filter((call) => call.index === index));
    expect(joined.map((each) => JSON.parse(each.map((call) => call.function?.arguments ?? '').join('')))).toEqual([
      { city: 'Paris' },
      {},
    ]);
    expect(joined.map((each) => each.map((call) => call.function?.name ?? '').join(''))).toEqual(['get_weather', 'get_weather']);
    expect(chunks.flatMap(({ choices }) => choices).findLast(({ finish_reason }) => finish_reason)?.finish_reason).toBe(
      'tool_calls',
    );
    expect(usages[0]).toMatchObject({
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens: vendor === 'mistral' ? 30 : 74,
    });
  });

  it('is collected into one message if the client does not stream', async () => {
    const { choice, usage } = await readMessage(vendor, createRecordedReply(vendor, 'thinking-tools'), { tools: [weatherTool] });
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I look.' } });
    expect(choice?.message.reasoning_content).toMatch(/at once\.$/);
    expect(choice?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather' } },
      { type: 'function', function: { name: 'get_weather', arguments: '{}' } },
    ]);
    expect(usage?.prompt_tokens).toBe(vendor === 'bedrock' ? 170 : 120);
  });

  it('ends with the error, and without a finish reason, if the upstream reports one midway', async () => {
    const { chunks, content, error, isDone } = await readStream(vendor, createRecordedReply(vendor, 'error-mid-stream'));
    expect([content(), isDone]).toEqual(['Half of ', true]);
    expect(error?.message).toMatch(/overloaded|Too many tokens|unavailable/);
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason }) => finish_reason))).toBe(false);
  });

  it.each(['ends without its end', 'is cut'])('ends with an error if the upstream stream %s', async (how) => {
    const bytes = readRecordedBytes(vendor, 'text');
    const reply: Reply = async (exchange) => {
      exchange.head(200, { 'content-type': vendor === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream' });
      await exchange.bytes(takeFirstEvents(vendor, bytes));
      if (how === 'is cut') exchange.destroyConnection();
      else exchange.response.end();
    };
    const { chunks, error } = await readStream(vendor, reply);
    expect(error).toMatchObject({ type: 'upstream_error', code: 'upstream_failed' });
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason }) => finish_reason))).toBe(false);
    upstream.script(reply);
    expect(await service.chat(vendor, { messages: hello })).toMatchObject({ status: 500, error: { code: 'upstream_failed' } });
  });

  it('is answered with 500 if its bytes are garbage', async () => {
    const garbage: Reply = async (exchange) => {
      exchange.head(200, { 'content-type': vendor === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream' });
      exchange.response.end('data: {"oops"\n\n\u0000\u0001\u0002 not at all\n\n');
    };
    upstream.script(garbage);
    expect(await service.chat(vendor, { messages: hello, stream: true })).toMatchObject({
      status: 500,
      error: { type: 'upstream_error', code: 'upstream_failed' },
    });
  });
});

/** Returns the stream up to its second event. */
function takeFirstEvents(vendor: Vendor, bytes: Buffer): Buffer {
  if (vendor !== 'bedrock')
    return bytes.subarray(0, bytes.indexOf(vendor === 'gemini' ? '\r\n\r\n' : '\n\n', bytes.length / 3) + 4);
  const first = bytes.readUInt32BE(0);
  return bytes.subarray(0, first + bytes.readUInt32BE(first));
}

describe('signature of a model', () => {
  it('of a Gemini call is returned to the client and restored in the next request', async () => {
    const { message } = await readMessage('gemini', createRecordedReply('gemini', 'thinking-tools'), { tools: [weatherTool] });
    const signed = { extra_content: { google: { thought_signature: 'c2lnLWNhbGw=' } } };
    expect(message?.tool_calls).toMatchObject([{ id: 'fc-1', ...signed }, { id: 'fc-2' }]);
    const { contents } = JSON.parse(await sendBack('gemini', message));
    expect(contents[1].parts).toEqual([
      { text: 'I look.' },
      { functionCall: { id: 'fc-1', name: 'get_weather', args: { city: 'Paris' } }, thoughtSignature: 'c2lnLWNhbGw=' },
      { functionCall: { id: 'fc-2', name: 'get_weather', args: {} } },
    ]);
    expect(contents[2].parts).toMatchObject([{ functionResponse: { id: 'fc-1' } }, { functionResponse: { id: 'fc-2' } }]);
  });

  it('of Gemini text is returned to the client and restored in the next request', async () => {
    const { message } = await readMessage('gemini', createRecordedReply('gemini', 'text'));
    expect(message?.extra_content).toEqual({ google: { thought_signature: 'c2lnLXRleHQ=' } });
    const { contents } = JSON.parse(await sendBack('gemini', message));
    expect(contents[1].parts).toEqual([{ text: words, thoughtSignature: 'c2lnLXRleHQ=' }]);
  });

  it('of a Vertex call with streamed arguments is returned and restored', async () => {
    const { message, choice } = await readMessage('vertex', createRecordedReply('vertex', 'streamed-arguments'), {
      tools: [weatherTool],
    });
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(message?.tool_calls).toMatchObject([
      { function: { arguments: '{"city":"Paris"}' }, extra_content: { google: { thought_signature: 'c2lnLXZlcnRleA==' } } },
    ]);
    expect(await sendBack('vertex', message)).toContain('"thoughtSignature":"c2lnLXZlcnRleA=="');
  });

  it('of Bedrock thoughts is returned and restored before the calls', async () => {
    const { message } = await readMessage('bedrock', createRecordedReply('bedrock', 'thinking-tools'), { tools: [weatherTool] });
    const thinking = 'Two forecasts, at once.';
    expect(message?.thinking_blocks).toEqual([{ type: 'thinking', thinking, signature: 'c2lnLWJlZHJvY2s=' }]);
    const { messages } = JSON.parse(await sendBack('bedrock', message));
    expect(messages[1].content[0]).toEqual({
      reasoningContent: { reasoningText: { text: thinking, signature: 'c2lnLWJlZHJvY2s=' } },
    });
    expect(messages[1].content.slice(2)).toMatchObject([
      { toolUse: { toolUseId: 'tooluse_1' } },
      { toolUse: { toolUseId: 'tooluse_2' } },
    ]);
  });

  it('of redacted Bedrock thoughts is returned and restored unchanged', async () => {
    const { message } = await readMessage('bedrock', createRecordedReply('bedrock', 'redacted'));
    expect(message?.thinking_blocks).toEqual([{ type: 'redacted_content', data: 'cmVkYWN0' }]);
    const { messages } = JSON.parse(await sendBack('bedrock', message));
    expect(messages[1].content).toEqual([{ reasoningContent: { redactedContent: 'cmVkYWN0' } }, { text: 'Yes.' }]);
  });

  it('is not sent to another vendor', async () => {
    const signed = { thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2lnLWNsYXVkZQ==' }] };
    const extra = { extra_content: { google: { thought_signature: 'c2lnLWdlbWluaQ==' } } };
    const message = { role: 'assistant', content: 'Yes.', ...signed, ...extra };
    expect(await sendBack('gemini', message)).not.toContain('c2lnLWNsYXVkZQ==');
    expect(await sendBack('bedrock', message)).not.toContain('c2lnLWdlbWluaQ==');
    for (const foreign of ['c2lnLWNsYXVkZQ==', 'c2lnLWdlbWluaQ=='])
      expect(await sendBack('mistral', message)).not.toContain(foreign);
  });

  it('is the thought itself for Mistral', async () => {
    const { message } = await readMessage('mistral', createRecordedReply('mistral', 'thinking-tools'), { tools: [weatherTool] });
    const { messages } = JSON.parse(await sendBack('mistral', message));
    expect(messages[1]).toMatchObject({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Two forecasts, at once.' }] },
        { type: 'text', text: 'I look.' },
      ],
      tool_calls: [{ id: 'abcDEF123' }, { id: 'abcDEF124' }],
    });
  });
});

describe.each([
  ['gemini', 'c2lnLWNhbGw='],
  ['bedrock', 'c2lnLWJlZHJvY2s='],
] as const)('quick app with a %s model', (vendor, signature) => {
  it('returns the signatures to the model together with the tool results', async () => {
    const index = upstream.requests.length;
    upstream.script(createRecordedReply(vendor, 'thinking-tools'), createRecordedReply(vendor, 'text'));
    const { completion } = await service.chat(`${vendor}-app`, { messages: hello });
    expect(completion.choices[0]).toMatchObject({ message: { content: expect.stringContaining(words) }, finish_reason: 'stop' });
    const { text } = await upstream.request(index + 1);
    expect(text).toContain(signature);
    expect(text).toMatch(/functionResponse|toolResult/);
  });
});

describe('reply that stops for safety', () => {
  it.each([
    ['gemini', 'safety', 'Well, '],
    ['gemini', 'blocked-prompt', ''],
    ['bedrock', 'guardrail', 'Sorry.'],
  ] as const)('of %s (%s) ends with content_filter', async (vendor, name, content) => {
    const { choice } = await readMessage(vendor, createRecordedReply(vendor, name));
    expect([choice?.finish_reason, choice?.message.content ?? '']).toEqual(['content_filter', content]);
    const { chunks } = await readStream(vendor, createRecordedReply(vendor, name));
    expect(chunks.flatMap(({ choices }) => choices).map(({ finish_reason }) => finish_reason)).toContain('content_filter');
  });

  it('returns the reason as refusal if the vendor sends one', async () => {
    expect((await readMessage('gemini', createRecordedReply('gemini', 'safety'))).message?.refusal).toBe(
      'The answer was unsafe.',
    );
  });
});

describe('Gemini reply', () => {
  it('returns images and sources as attachments', async () => {
    const { message } = await readMessage('gemini', createRecordedReply('gemini', 'image-and-source'));
    expect(message).toMatchObject({
      content: 'Here: done.',
      custom_content: {
        attachments: [
          { index: 0, type: 'image/png', data: 'iVBORw0KGgo=' },
          { index: 1, type: 'text/plain', title: 'example.org', data: '', reference_url: 'https://example.org/a' },
          { index: 2, type: 'text/plain', data: '', reference_url: 'https://example.org/b' },
        ],
      },
    });
  });

  it('ends with an error for a malformed function call', async () => {
    const { error } = await readStream('gemini', createRecordedReply('gemini', 'malformed-call'));
    expect(error?.message).toMatch(/MALFORMED_FUNCTION_CALL/);
  });
});

it('Mistral reply that exceeds the context length ends with the finish reason length', async () => {
  expect((await readMessage('mistral', createRecordedReply('mistral', 'length'))).choice?.finish_reason).toBe('length');
});

describe.each([
  ['gemini', 429, 'rate_limit_error'],
  ['bedrock', 500, 'upstream_error'],
] as const)('error as the first event of a %s stream', (vendor, status, type) => {
  it(`is answered with ${status}`, async () => {
    upstream.script(createRecordedReply(vendor, 'error-at-once'));
    for (const stream of [false, true]) {
      service.forgetFailures();
      expect(await service.chat(vendor, { messages: hello, stream })).toMatchObject({ status, error: { type } });
    }
  });
});

describe.each(vendorNames)('request to the %s upstream when the client disconnects', (vendor) => {
  it('is canceled before the response headers arrive', async () => {
    upstream.script(silence);
    const index = upstream.requests.length;
    const caller = service.chatAndDisconnect(vendor, { messages: hello });
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => caller.disconnect());
  });

  it('is canceled in the middle of the reply', async () => {
    const index = upstream.requests.length;
    const name = vendor === 'vertex' ? 'streamed-arguments' : 'text';
    upstream.script(async (exchange) => {
      exchange.head(200, { 'content-type': vendor === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream' });
      await exchange.bytes(readRecordedBytes(vendor, name).subarray(0, -200));
    });
    const reader = await service.stream(vendor, { messages: hello });
    await reader.next();
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => reader.disconnect());
  });
});
