import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion, usage } from '#test/chunks.ts';
import { eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const upstreams = [{ endpoint: upstream.endpoint }];
  service = await startService({ models: { m: { upstreams } }, applications: { app: { endpoint: `${upstream.url}/app` } } });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const weather = {
  name: 'get-weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const asTool = { type: 'function', function: weather };
const call = (id: string, name: string, args: string) => ({ id, type: 'function' as const, function: { name, arguments: args } });

function getLastBody(): { [key: string]: unknown } {
  return upstream.requests.at(-1)?.body ?? expect.unreachable();
}

describe('deprecated functions', () => {
  it.each([
    [undefined, undefined],
    ['auto', 'auto'],
    ['none', 'none'],
    [{ name: 'get-weather' }, { type: 'function', function: { name: 'get-weather' } }],
  ])('reach the upstream as tools, and function_call %j as tool_choice', async (function_call, tool_choice) => {
    upstream.script(jsonReply(plainCompletion('hi')));
    await service.chat('m', { messages: hello, functions: [weather], ...(function_call !== undefined && { function_call }) });
    expect(getLastBody()).toEqual({
      messages: hello,
      model: 'm',
      tools: [asTool],
      ...(tool_choice !== undefined && { tool_choice }),
    });
  });

  it('are rejected if a result has another name than its call', async () => {
    const requestCount = upstream.requests.length;
    const { status, error } = await service.chat('m', {
      messages: [
        ...hello,
        { role: 'assistant', content: null, function_call: { name: 'get-weather', arguments: '{}' } },
        { role: 'function', name: 'get-time', content: 'noon' },
      ],
    });
    expect([status, error.param, upstream.requests.length - requestCount]).toEqual([400, 'messages[2].name', 0]);
  });

  it('pair a call with its result without additional messages', async () => {
    upstream.script(jsonReply(plainCompletion('It is sunny.')));
    const callMessage = { role: 'assistant', content: null, function_call: { name: 'get-weather', arguments: '{}' } };
    const sunny = { role: 'function', name: 'get_weather', content: 'sunny' };
    const { status } = await service.chat('m', { messages: [sunny, callMessage, ...hello, sunny, callMessage, ...hello] });
    expect(status).toBe(200);
    const [alone, call, result, ...remaining] = getLastBody().messages as {
      tool_calls?: { id: string }[];
      tool_call_id?: string;
    }[];
    expect(alone).toEqual({ ...sunny, role: 'user' });
    expect(call?.tool_calls?.[0]?.id).toBe(result?.tool_call_id);
    expect(result).toMatchObject({ role: 'tool', content: 'sunny' });
    expect(remaining).toEqual([...hello, ...hello]);
  });

  it('have messages that are translated with matching IDs', async () => {
    upstream.script(jsonReply(plainCompletion('It is sunny.')));
    await service.chat('m', {
      functions: [weather],
      messages: [
        ...hello,
        { role: 'assistant', content: null, function_call: { name: 'get-weather', arguments: '{"city":"Paris"}' } },
        { role: 'function', name: 'get-weather', content: 'sunny' },
        { role: 'assistant', function_call: { name: 'get-weather', arguments: '{}' } },
        { role: 'function', name: 'get-weather', content: 'rain' },
      ],
    });
    const messages = getLastBody().messages as {
      role: string;
      content: unknown;
      tool_calls?: { id: string }[];
      tool_call_id?: string;
      function_call?: unknown;
    }[];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    const [, requestCount, result, secondCall, secondResult] = messages;
    expect(requestCount?.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get-weather', arguments: '{"city":"Paris"}' } },
    ]);
    expect(result).toEqual({ role: 'tool', tool_call_id: requestCount?.tool_calls?.[0]?.id, content: 'sunny' });
    expect(secondResult?.tool_call_id).toBe(secondCall?.tool_calls?.[0]?.id);
    expect(requestCount?.tool_calls?.[0]?.id).not.toBe(secondCall?.tool_calls?.[0]?.id);
    expect(JSON.stringify(messages)).not.toContain('function_call');
  });

  it('return one function call in JSON, even if the upstream returns several tool calls', async () => {
    const tool_calls = [call('c1', 'get-weather', '{"city":"Paris"}'), call('c2', 'get-weather', '{"city":"Rome"}')];
    const message = { role: 'assistant', content: null, tool_calls };
    upstream.script(jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })));
    const { completion } = await service.chat('m', { messages: hello, functions: [weather] });
    expect(completion.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', function_call: { name: 'get-weather', arguments: '{"city":"Paris"}' } },
        finish_reason: 'function_call',
      },
    ]);
    expect(completion.usage?.total_tokens).toBe(12);
  });

  it('return one function call in a stream', async () => {
    upstream.script(
      eventsReply(
        delta({ role: 'assistant', content: null }),
        delta({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'get-weather', arguments: '' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
        delta({ tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'other', arguments: '{}' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
        finish('tool_calls'),
        usage(3, 4),
      ),
    );
    const { chunks, deltas, isDone, data } = await (
      await service.stream('m', { messages: hello, functions: [weather] })
    ).readRest();
    const calls = deltas().flatMap(({ function_call: part }) => part ?? []);
    expect(calls[0]?.name).toBe('get-weather');
    expect(calls.map(({ arguments: args }) => args ?? '').join('')).toBe('{"city":"Paris"}');
    expect(data.join('')).not.toContain('tool_calls');
    expect(chunks.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason)).filter(Boolean)).toEqual([
      'function_call',
    ]);
    expect(isDone).toBe(true);
  });

  it('return the same function call for a JSON request if the upstream streams', async () => {
    const events = [
      delta({ role: 'assistant', content: 'Wait. ' }),
      delta({ tool_calls: [{ index: 0, ...call('c1', 'get-weather', '{"a":1}') }] }),
      finish('tool_calls'),
      usage(3, 4),
    ];
    upstream.script(eventsReply(...events));
    const { completion } = await service.chat('m', { messages: hello, functions: [weather] });
    expect(completion.choices[0]).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'Wait. ', function_call: { name: 'get-weather', arguments: '{"a":1}' } },
      finish_reason: 'function_call',
    });
  });

  it('reach an application unchanged', async () => {
    const reply = { role: 'assistant', function_call: { name: 'get-weather', arguments: '{}' } };
    upstream.script(jsonReply(plainCompletion('', { choices: [{ index: 0, message: reply, finish_reason: 'function_call' }] })));
    const body = {
      messages: [...hello, reply, { role: 'function', name: 'get-weather', content: 'x' }],
      functions: [weather],
      function_call: 'auto',
    };
    const { completion } = await service.chat('app', body);
    expect(getLastBody()).toEqual(body);
    expect(completion.choices[0]).toEqual({ index: 0, message: reply, finish_reason: 'function_call' });
  });

  it('work with the demo deployment', async () => {
    await using own = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
    const body = {
      messages: [{ role: 'user', content: 'Weather in Paris?' }],
      functions: [weather],
      function_call: { name: 'get-weather' },
    };
    const { completion } = await own.chat('demo', body);
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'get-weather' } },
    });
    const { deltas } = await (await own.stream('demo', body)).readRest();
    const args = deltas()
      .map(({ function_call: part }) => part?.arguments ?? '')
      .join('');
    expect(args).toBe(
      completion.choices[0]?.message.function_call &&
        (completion.choices[0].message.function_call as { arguments: string }).arguments,
    );
  });
});

describe('tools', () => {
  const tool_calls = [call('c1', 'a', '{"x":1}'), call('c2', 'b', '{}')];
  const reply = { role: 'assistant', content: null, tool_calls };

  it('are forwarded and returned unchanged', async () => {
    upstream.script(jsonReply(plainCompletion('', { choices: [{ index: 0, message: reply, finish_reason: 'tool_calls' }] })));
    const body = { messages: hello, tools: [asTool], tool_choice: 'required', parallel_tool_calls: true };
    const { completion } = await service.chat('m', body);
    expect(getLastBody()).toEqual({ ...body, model: 'm' });
    expect(completion.choices).toEqual([{ index: 0, message: reply, finish_reason: 'tool_calls' }]);
  });

  it('are streamed byte by byte', async () => {
    const parts = tool_calls.map((each, index) => delta({ tool_calls: [{ index, ...each }] }));
    upstream.script(eventsReply(delta({ role: 'assistant', content: null }), ...parts, finish('tool_calls'), usage(1, 1)));
    const { data } = await (await service.stream('m', { messages: hello, tools: [asTool] })).readRest();
    for (const part of parts) expect(data).toContain(JSON.stringify(part));
  });

  it('are folded into complete calls without an index', async () => {
    const parts = tool_calls.map((each, index) => delta({ tool_calls: [{ index, ...each }] }));
    upstream.script(eventsReply(delta({ role: 'assistant', content: null }), ...parts, finish('tool_calls'), usage(1, 1)));
    const { completion } = await service.chat('m', { messages: hello, tools: [asTool] });
    expect(completion.choices).toEqual([{ index: 0, message: reply, finish_reason: 'tool_calls' }]);
  });

  it('are rejected together with functions', async () => {
    const answer = await service.chat('m', { messages: hello, tools: [asTool], functions: [weather] });
    expect([answer.status, answer.error.param]).toEqual([400, 'functions']);
  });
});
