import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import {
  errorReply,
  eventsReply,
  jsonReply,
  piecesReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { createNativeReply } from './native-reply.ts';
import { createClient, post, type ResponseEvent, readEvents, requireOrder } from './support.ts';

allowNonconformingUpstreams();

let native: ScriptedUpstream;
let gpt: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [native, gpt] = [await startScriptedUpstream(), await startScriptedUpstream()];
  const responses = { endpoint: native.endpoint, key: 'upstream-key', model: 'gpt-upstream', api: 'responses' };
  service = await startService({
    models: {
      m: { upstreams: [responses], maxRetryAttempts: 1 },
      both: { upstreams: [{ ...responses, api: 'both' }], maxRetryAttempts: 1 },
      mixed: { upstreams: [responses, { endpoint: gpt.endpoint, tier: 1 }] },
      equal: { upstreams: [{ endpoint: gpt.endpoint }, responses] },
    },
    keys: { [callerKey]: { project: 'p' }, other: { project: 'q' } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await native.close();
  await gpt.close();
});

const usage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 12,
};
const head = {
  id: 'resp_up',
  object: 'response',
  created_at: 1,
  model: 'gpt-upstream',
  status: 'in_progress',
  output: [],
  error: null,
  usage: null,
  odd: true,
};
const reasoning = {
  type: 'reasoning',
  id: 'rs_up',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'gAAAA-upstream',
};
const textPart = { type: 'output_text', text: 'Grüße 😀', annotations: [], logprobs: [] };
const message = { type: 'message', id: 'msg_up', status: 'completed', role: 'assistant', content: [textPart] };
const call = { type: 'function_call', id: 'fc_up', call_id: 'call_1', name: 'f', arguments: '{"a":1}', status: 'completed' };

function toBytes(events: readonly { type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

describe('Parley-Ignored', () => {
  const hosted = { input: 'Hi', tools: [{ type: 'web_search' }], top_k: 5, include: ['web_search_call.results'] };
  const names = 'top_k, include.web_search_call.results';

  it.each([
    [false, {}],
    [false, { store: false }],
    [true, {}],
    [true, { store: false }],
  ])('does not list relayed fields (streamed: %s, %j)', async (stream, more) => {
    native.script(createNativeReply());
    const { status, headers } = await post(service, { model: 'm', ...hosted, ...more, stream });
    expect([status, headers['parley-ignored']]).toEqual([200, undefined]);
    expect((await native.request(native.requests.length - 1)).body).toMatchObject({ tools: hosted.tools, top_k: 5 });
  });

  it('lists fields that the responding upstream did not receive', async () => {
    native.script(errorReply(503));
    gpt.script(eventsReply(...plainReply('Hello.')));
    const { status, headers } = await post(service, { model: 'mixed', ...hosted });
    expect([status, headers['parley-ignored']]).toEqual([200, `tools.web_search, ${names}`]);
  });

  it('is not needed if an upstream of the same tier can answer', async () => {
    native.script(createNativeReply());
    const count = gpt.requests.length;
    const { status } = await post(service, { model: 'equal', ...hosted, tool_choice: 'required' });
    expect([status, gpt.requests.length]).toEqual([200, count]);
  });

  it.each([
    { tool_choice: 'required' },
    { tool_choice: { type: 'web_search' } },
    {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'web_search_call', id: 'ws_1' },
      ],
    },
  ])('does not replace the failure of the only upstream that can answer: %j', async (fields) => {
    native.script(errorReply(503));
    const count = gpt.requests.length;
    const failed = await post(service, { model: 'mixed', ...hosted, ...fields });
    expect([failed.status, JSON.parse(failed.text).error.code]).toEqual([503, 'upstream_unavailable']);
    expect(gpt.requests.length).toBe(count);
  });
});

/** Returns an item without content, as at its start. */
function toStarted(item: object): object {
  const empty = { summary: [], content: [], arguments: '' };
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, empty[key as keyof typeof empty] ?? value]));
}

function createStream(items: readonly (typeof reasoning | typeof message | typeof call)[]): { type: string }[] {
  const events: { type: string }[] = [
    { type: 'response.created', response: head } as never,
    { type: 'response.in_progress', response: head } as never,
  ];
  items.forEach((item, output_index) => {
    const location = { item_id: item.id, output_index };
    events.push({ type: 'response.output_item.added', output_index, item: toStarted(item) } as never);
    if (item.type === 'reasoning') {
      events.push({
        type: 'response.reasoning_summary_part.added',
        ...location,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      } as never);
      events.push({ type: 'response.reasoning_summary_text.delta', ...location, summary_index: 0, delta: 'Hm.' } as never);
      events.push({ type: 'response.reasoning_summary_text.done', ...location, summary_index: 0, text: 'Hm.' } as never);
      events.push({
        type: 'response.reasoning_summary_part.done',
        ...location,
        summary_index: 0,
        part: { type: 'summary_text', text: 'Hm.' },
      } as never);
    }
    if (item.type === 'message') {
      events.push({
        type: 'response.content_part.added',
        ...location,
        content_index: 0,
        part: { ...textPart, text: '' },
      } as never);
      events.push({
        type: 'response.output_text.delta',
        ...location,
        content_index: 0,
        delta: textPart.text,
        logprobs: [],
      } as never);
      events.push({
        type: 'response.output_text.done',
        ...location,
        content_index: 0,
        text: textPart.text,
        logprobs: [],
      } as never);
      events.push({ type: 'response.content_part.done', ...location, content_index: 0, part: textPart } as never);
    }
    if (item.type === 'function_call') {
      events.push({ type: 'response.function_call_arguments.delta', ...location, delta: '{"a":1}' } as never);
      events.push({ type: 'response.function_call_arguments.done', ...location, arguments: '{"a":1}' } as never);
    }
    events.push({ type: 'response.output_item.done', output_index, item } as never);
  });
  events.push({ type: 'response.completed', response: { ...head, status: 'completed', output: items, usage } } as never);
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** A valid stream with comments, unknown events and fields, escapes, 4-byte characters, and no end mark. */
const unusualStream = `: hi\n\n${toBytes(createStream([reasoning, message]).flatMap((event) => (event.type === 'response.output_text.delta' ? [event, { type: 'response.odd' }] : [event])))}`;
const completeResponse = { ...head, status: 'completed', output: [reasoning, message], usage };
const request = { model: 'm', input: 'Hello', store: false };

async function readBody(index: number): Promise<Record<string, unknown>> {
  return (await native.request(index)).body;
}

async function readLastBody(): Promise<Record<string, unknown>> {
  return readBody(native.requests.length - 1);
}

describe('Responses client of an upstream with the Responses API', () => {
  it('is relayed byte by byte, regardless of the split', async () => {
    native.script(piecesReply(unusualStream.slice(0, 90), unusualStream.slice(90, 700), unusualStream.slice(700)));
    const { status, text } = await post(service, { ...request, stream: true });
    expect(status).toBe(200);
    expect(Buffer.from(text)).toEqual(Buffer.from(unusualStream));
  });

  it('receives a JSON response unchanged', async () => {
    const bytes = `{ "odd": 1e2, ${JSON.stringify(completeResponse).slice(1)}`;
    native.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(bytes);
    });
    expect((await post(service, request)).text).toBe(bytes);
  });

  it('has its request sent unchanged with the model name and key of the upstream', async () => {
    native.script(jsonReply(completeResponse));
    const body = {
      ...request,
      tools: [{ type: 'web_search', odd: 1 }],
      prompt: { id: 'pmpt' },
      input: [{ type: 'web_search_call', id: 'ws_1' }],
    };
    await post(service, body);
    expect(await readLastBody()).toEqual({ ...body, model: 'gpt-upstream' });
    const { path, headers } = await native.request(native.requests.length - 1);
    expect(path).toBe('/v1/responses');
    expect(headers.authorization).toBe('Bearer upstream-key');
  });

  it('receives the status of an error, even if the error is the first event of a stream', async () => {
    native.script(errorReply(400, {}, { message: 'No such thing.', type: 'invalid_request_error', param: 'input', code: 'odd' }));
    const rejection = await post(service, { ...request, stream: true });
    expect([rejection.status, JSON.parse(rejection.text).error]).toEqual([
      400,
      { message: 'No such thing.', type: 'invalid_request_error', param: 'input', code: 'odd' },
    ]);
    const failed = { ...head, status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } };
    native.script(
      piecesReply(
        toBytes([{ type: 'response.created', response: head } as never, { type: 'response.failed', response: failed } as never]),
      ),
    );
    const { status, text } = await post(service, { ...request, stream: true });
    expect([status, JSON.parse(text).error.code]).toEqual([429, 'rate_limit_exceeded']);
  });

  it('receives an error event with the next number if the reply is aborted', async () => {
    const toStarted = createStream([message]).slice(0, 5);
    native.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.bytes(toBytes(toStarted));
      exchange.destroyConnection();
    });
    const { text } = await post(service, { ...request, stream: true });
    expect(text.startsWith(toBytes(toStarted))).toBe(true);
    const rest = text
      .slice(toBytes(toStarted).length)
      .split('\n\n')
      .filter((block) => block !== '');
    const [error, failed] = rest
      .slice(0, 2)
      .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as ResponseEvent);
    expect(error).toMatchObject({ type: 'error', sequence_number: 5, error: { code: 'upstream_failed' } });
    expect(failed).toMatchObject({ type: 'response.failed', sequence_number: 6, response: { id: 'resp_up', status: 'failed' } });
    expect(rest.at(-1)).toBe('data: [DONE]');
  });

  it.each([{ store: false }, { store: true }])('receives the code of a failed response in a stream (%j)', async (fields) => {
    const failed = { ...head, status: 'failed', error: { code: 'insufficient_quota', message: 'Nothing is left.' } };
    const events = createStream([message]).slice(0, 5);
    native.script(piecesReply(toBytes([...events, { type: 'response.failed', response: failed } as never])));
    const { status, text } = await post(service, { ...request, ...fields, stream: true });
    const codes = ['error', 'response.failed'].map((type) => {
      const data = text.split(`event: ${type}\ndata: `)[1]?.split('\n', 1)[0] ?? '';
      const { code, error, response } = JSON.parse(data);
      return response === undefined ? [code, error.code] : response.error.code;
    });
    expect([status, codes]).toEqual([200, [['insufficient_quota', 'insufficient_quota'], 'insufficient_quota']]);
    service.forgetFailures();
  });

  it('receives the parts that arrived in the final response if the reply is aborted', async () => {
    const toStarted = createStream([reasoning, message, call]).slice(0, -3);
    native.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.bytes(toBytes(toStarted));
      exchange.destroyConnection();
    });
    const { text } = await post(service, { model: 'm', input: 'Hello', stream: true });
    const [, data = ''] = /^event: response.failed\ndata: (.*)$/m.exec(text) ?? [];
    const { output } = (JSON.parse(data) as ResponseEvent).response as { output: object[] };
    expect(output).toMatchObject([
      { type: 'reasoning', summary: reasoning.summary },
      { type: 'message', status: 'completed', content: [textPart] },
      { type: 'function_call', status: 'incomplete', arguments: '{"a":1}' },
    ]);
  });

  it('receives sealed thoughts, also of an item that had not ended', async () => {
    native.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.bytes(toBytes(createStream([reasoning]).slice(0, 4)));
      exchange.destroyConnection();
    });
    const { text } = await post(service, { ...request, include: ['reasoning.encrypted_content'], stream: true });
    expect(text).toContain('"status":"incomplete"');
    expect(text).not.toContain(reasoning.encrypted_content);
  });

  it('is answered by another upstream with its own API if this upstream fails', async () => {
    native.script(errorReply(503));
    gpt.script(eventsReply(...plainReply('Hello from elsewhere')));
    const events = await readEvents(service, { ...request, model: 'mixed' });
    expect(events.at(-1)).toMatchObject({
      response: {
        output: [
          {
            content: [{ text: 'Hello from elsewhere' }],
          },
        ],
      },
    });
  });
});

describe('response that Parley stores', () => {
  it('has its own ID and event numbers', async () => {
    native.script(piecesReply(toBytes(createStream([reasoning, message]))));
    const { text } = await post(service, { model: 'm', input: 'Hello', stream: true, include: [] });
    const events = requireOrder(text, false);
    const { response } = events.at(-1) as unknown as { response: { id: string; output: object[]; model: string } };
    expect(response.id).toMatch(/^resp_[a-p]{32}$/);
    expect(events[0]).toMatchObject({ response: { id: response.id } });
    expect(response).toMatchObject({ model: 'm', store: false, status: 'completed', usage });
    expect(await readLastBody()).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(JSON.stringify(events)).not.toContain('gAAAA');
  });

  it('encrypts the encrypted content of the upstream for its client, and returns it unchanged to the upstream', async () => {
    const client = createClient(service);
    const fields = { model: 'm', store: false, include: ['reasoning.encrypted_content' as const] };
    for (const streamed of [false, true]) {
      native.script(
        streamed
          ? piecesReply(toBytes(createStream([reasoning, call])))
          : jsonReply({ ...completeResponse, output: [reasoning, call] }),
      );
      const response = streamed
        ? await client.responses.stream({ ...fields, input: 'Hello' }).finalResponse()
        : await client.responses.create({ ...fields, input: 'Hello' });
      const sealed = (response.output[0] as { encrypted_content: string }).encrypted_content;
      expect(sealed).not.toContain('gAAAA');
      native.script(jsonReply(completeResponse));
      const result = { type: 'function_call_output' as const, call_id: 'call_1', output: 'fine' };
      const input = [...(response.output as never[]), result];
      expect((await post(service, { ...fields, input })).status).toBe(200);
      const { input: sent } = (await readLastBody()) as { input: object[] };
      expect(sent[0]).toMatchObject({ type: 'reasoning', encrypted_content: 'gAAAA-upstream' });
      expect(sent[1]).toMatchObject({ type: 'function_call', call_id: 'call_1' });
      const foreign = await service.sendRequest({ path: '/v1/responses', headers: withKey('other'), body: { ...fields, input } });
      expect([foreign.status, JSON.parse(foreign.text).error.code]).toEqual([400, 'invalid_encrypted_content']);
    }
  });
});

describe('client of another API', () => {
  it.each(['m', 'both'])('is answered by an upstream with the Responses API (%s)', async (model) => {
    if (model === 'both') native.script(eventsReply(...plainReply('Hello')));
    else native.script(piecesReply(unusualStream));
    const { text } = await service.chat(model, { stream: true, messages: [{ role: 'user', content: 'Hello' }] });
    expect(text).toContain(model === 'both' ? 'Hello' : 'Grüße 😀');
    expect(text).toContain('"finish_reason":"stop"');
    expect((await native.request(native.requests.length - 1)).path).toBe(
      model === 'both' ? '/v1/chat/completions' : '/v1/responses',
    );
  });

  it('has its conversation, tools, and settings translated', async () => {
    native.script(jsonReply({ ...completeResponse, output: [reasoning, call] }));
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    const toolCalls = [{ id: 'call_0', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const { status, text } = await service.chat('m', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: toolCalls },
        { role: 'tool', tool_call_id: 'call_0', content: 'fine' },
      ],
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'f' } },
      max_tokens: 5,
      reasoning_effort: 'low',
      seed: 1,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
    });
    expect(status, text).toBe(200);
    expect(await readLastBody()).toEqual({
      model: 'gpt-upstream',
      store: false,
      input: [
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'https://a.example/b.png' },
          ],
        },
        { type: 'function_call', call_id: 'call_0', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_0', output: 'fine' },
      ],
      tools: [{ type: 'function', name: 'f', strict: false, parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'f' },
      max_output_tokens: 16,
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'x', schema: {} } },
    });
    const completion = JSON.parse(text);
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { reasoning_content: 'Hm.', tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }] },
    });
    expect(completion.usage).toMatchObject({
      prompt_tokens: 7,
      completion_tokens: 5,
      completion_tokens_details: { reasoning_tokens: 3 },
    });
  });

  it('has custom tools and log probabilities, in JSON and streams', async () => {
    const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'apply', input: 'a patch' };
    const logprobs = [{ token: 'Hi', logprob: -0.5, bytes: [], top_logprobs: [] }];
    const likely = { ...message, content: [{ ...textPart, logprobs }] };
    const tools = [{ type: 'custom', custom: { name: 'apply' } }];
    const fields = { tools, tool_choice: { type: 'custom', custom: { name: 'apply' } }, logprobs: true, top_logprobs: 1 };
    const hello = { role: 'user', content: 'Hello' };
    native.script(jsonReply({ ...completeResponse, output: [likely, custom] }));
    const { choices } = (await service.chat('m', { ...fields, messages: [hello] })).completion;
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      logprobs: { content: logprobs },
      message: { tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'apply', input: 'a patch' } }] },
    });
    expect(await readLastBody()).toMatchObject({
      ...{ tools: [{ type: 'custom', name: 'apply' }], tool_choice: { type: 'custom', name: 'apply' } },
      ...{ include: ['message.output_text.logprobs'], top_logprobs: 1 },
    });
    const events = createStream([message, { ...custom, call_id: 'call_2' } as never]);
    native.script(
      piecesReply(toBytes(events.map((event) => (event.type.endsWith('_text.delta') ? { ...event, logprobs } : event)))),
    );
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'done' };
    const messages = [hello, choices[0]?.message, result];
    const { text } = await service.chat('m', { ...fields, messages, stream: true });
    expect(text).toContain(
      '"tool_calls":[{"index":0,"id":"call_2","type":"custom","custom":{"name":"apply","input":"a patch"}}]',
    );
    expect(text).toContain('"logprobs":{"content":[{"token":"Hi","logprob":-0.5');
    expect(text).toContain('"finish_reason":"tool_calls"');
    const { input } = (await readLastBody()) as { input: object[] };
    expect(input.slice(-2)).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply', input: 'a patch' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
    ]);
  });

  it('receives tool calls in the Messages API', async () => {
    native.script(piecesReply(toBytes(createStream([reasoning, message, call]))));
    const body = { model: 'm', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'Hello' }] };
    const { status, text } = await service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(callerKey), body });
    expect(status, text).toBe(200);
    expect(text).toContain('"type":"tool_use","id":"call_1","name":"f"');
    expect(text).toContain('"stop_reason":"tool_use"');
  });

  it('receives the reasoning of the model, in JSON and streams', async () => {
    const fields = { messages: [{ role: 'user', content: 'Hello' }] };
    const asMessages = { model: 'm', max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 }, ...fields };
    const messages = (more: object) =>
      service.sendRequest({ path: '/msgapi/v1/messages', headers: withKey(callerKey), body: { ...asMessages, ...more } });
    native.script(jsonReply({ ...completeResponse, output: [reasoning, message] }));
    const { choices } = (await service.chat('m', fields)).completion;
    expect(choices[0]?.message).toMatchObject({ reasoning_content: 'Hm.', content: 'Grüße 😀' });
    const { content } = (await messages({})).json as { readonly content: readonly object[] };
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Grüße 😀' },
    ]);
    native.script(piecesReply(toBytes(createStream([reasoning, message]))));
    const { text: chunks } = await service.chat('m', { ...fields, stream: true });
    expect(chunks).toContain('"reasoning_content":"Hm."');
    const { text: events } = await messages({ stream: true });
    expect(events).toContain('{"type":"thinking_delta","thinking":"Hm."}');
    expect(events.indexOf('thinking_delta')).toBeLessThan(events.indexOf('text_delta'));
  });
});
