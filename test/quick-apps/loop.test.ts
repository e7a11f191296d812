import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, text, usage } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { buildOperations, calls, getMessage, getStages, getToolMessages, says, startRig, startRigWith, user } from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
});

beforeEach(() => api.script(({ received, response }) => void response.end(`from ${received.path}`)));

afterAll(() => api.close());

const tools = (...names: string[]) => buildOperations(api, ...names);

describe('calls of one reply', () => {
  it('run concurrently, and their results have the order of the calls', async () => {
    let first: (() => void) | undefined;
    api.script(async ({ received, response }) => {
      // The first reply waits for the second call, so sequential calls would never finish.
      if (received.path === '/one') await new Promise<void>((resolve) => (first = resolve));
      else first?.();
      response.end(`from ${received.path}`);
    });
    await using rig = await startRigWith(tools('one', 'two'), calls(['one', {}], ['two', {}]), says('Done.'));
    const answer = await rig.chat('Do both.');
    expect(answer.headers['x-upstream-attempts']).toBe('1');
    expect(rig.sent().slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'call_0', content: 'from /one' },
      { role: 'tool', tool_call_id: 'call_1', content: 'from /two' },
    ]);
    expect(getStages(answer).map(({ index, name, status }) => [index, name, status])).toEqual([
      [0, 'one', 'completed'],
      [1, 'two', 'completed'],
    ]);
  });

  it('do not affect each other or the run if one fails', async () => {
    api.script(({ received, response }) => void response.writeHead(received.path === '/one' ? 500 : 200).end('said'));
    await using rig = await startRigWith(tools('one', 'two'), calls(['one', {}], ['two', {}]), says('Done.'));
    const answer = await rig.chat('Do both.');
    expect(getToolMessages(rig)).toEqual(['HTTP 500: said', 'said']);
    expect(getStages(answer).map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(getMessage(answer).content).toBe('Done.');
  });

  it.each([
    ['{"city": "Os', 'not a JSON object'],
    ['[1]', 'not a JSON object'],
    ['"x"', 'not a JSON object'],
  ])('with the arguments %s are not run, and the model receives the reason', async (args, message) => {
    const before = api.requests.length;
    await using rig = await startRigWith(tools('one'), calls(['one', args]), calls(['one', {}]), says('Done.'));
    const response = await rig.chat('Do it.');
    expect(getToolMessages(rig)).toEqual([expect.stringContaining(message), 'from /one']);
    expect(api.requests).toHaveLength(before + 1);
    expect(getStages(response).map(({ status }) => status)).toEqual(['failed', 'completed']);
  });

  it('of an unknown tool return an error to the model', async () => {
    await using rig = await startRigWith(tools('one'), calls(['two', {}], ['__proto__', {}]), says('Done.'));
    await rig.chat('Do it.');
    expect(getToolMessages(rig)).toEqual(['There is no tool named two.', 'There is no tool named __proto__.']);
  });

  it('of a truncated reply are not run', async () => {
    const before = api.requests.length;
    const truncated = eventsReply(
      delta({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'one', arguments: '{"a":' } }] } as never),
      finish('length'),
    );
    await using rig = await startRigWith(tools('one'), truncated);
    const { completion } = await rig.chat('Do it.');
    expect([completion.choices[0]?.finish_reason, api.requests.length]).toEqual(['length', before]);
  });
});

describe('a run', () => {
  it('calls its model at most 15 times, the last time without tools and with a note about it', async () => {
    await using rig = await startRigWith(tools('one'), ...Array.from({ length: 14 }, () => calls(['one', {}])), says('Enough.'));
    const response = await rig.chat('Continue without an end.');
    expect(rig.model.requests.map(({ body }) => Array.isArray(body.tools))).toEqual([...Array(14).fill(true), false]);
    expect(getToolMessages(rig).at(-1)).toMatch(/^from \/one\n\n\[You cannot call more tools in this run/);
    expect(getToolMessages(rig).slice(0, -1)).toEqual(Array(13).fill('from /one'));
    expect([getMessage(response).content, response.completion.choices[0]?.finish_reason]).toEqual(['Enough.', 'stop']);
    expect(getStages(response)).toHaveLength(14);
  });

  it('ends with an answer even if its model requests tools that are no longer offered', async () => {
    await using rig = await startRig({
      app: tools('one'),
      replies: [calls(['one', {}])],
      configuration: { tools: { maxTurns: 3 } },
    });
    const response = await rig.chat('Go on.');
    expect(getMessage(response).content).toBe('The run ended after 3 calls of the model without an answer.');
    expect([rig.model.requests.length, response.completion.choices[0]?.finish_reason]).toEqual([3, 'stop']);
  });

  it('reports the sum of the usage of its calls', async () => {
    await using rig = await startRigWith(tools('one'), calls(['one', {}]), calls(['one', {}]), says('Done.'));
    const { completion } = await rig.chat('Do it twice.');
    const sum = { prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 };
    expect(completion.usage).toEqual(sum);
    expect(completion.statistics).toEqual({ usage_per_model: [{ index: 0, model: 'model', name: 'model', ...sum }] });
  });

  it('streams role, text, stages, state, end, and usage with statistics in this order', async () => {
    await using rig = await startRigWith(tools('one'), calls('Let me see.', ['one', {}]), says('Done.'));
    const stream = await rig.service.stream('app', { messages: [user('Do it.')] });
    const result = await stream.readRest();
    expect(result.isDone).toBe(true);
    expect(result.content()).toBe('Let me see.\n\nDone.');
    const kinds = result.chunks.map(({ choices: [choice], usage: used, statistics }) => {
      if (used) return statistics ? 'usage and statistics' : 'usage';
      if (choice?.finish_reason) return choice.finish_reason;
      const { role, content, custom_content: custom } = choice?.delta ?? {};
      const [stage] = custom?.stages ?? [];
      return role ?? stage?.status ?? (stage ? 'stage' : custom?.state ? 'state' : content);
    });
    expect(kinds).toEqual([
      'assistant',
      'Let me see.',
      'stage',
      'completed',
      '\n\nDone.',
      'state',
      'stop',
      'usage and statistics',
    ]);
  });

  it('streams the text and the tool calls of its model immediately', async () => {
    let release: (() => void) | undefined;
    api.script(async ({ response }) => {
      await new Promise<void>((resolve) => (release = resolve));
      response.end('at last');
    });
    await using rig = await startRigWith(tools('one'), calls('Let me see.', ['one', {}]), says('Done.'));
    const stream = await rig.service.stream('app', { messages: [user('Do it.')] });
    for (let event = ''; !event.includes('"name":"one"'); ) event = (await stream.next()) ?? 'over "name":"one"';
    while (release === undefined) await delay(1);
    release();
    expect((await stream.readRest()).isDone).toBe(true);
  });

  it('closes its stages, reports the error, and ends if its model closes the connection', async () => {
    await using rig = await startRigWith(tools('one'), calls(['one', {}]), (exchange) => {
      exchange.head();
      exchange.destroyConnection();
    });
    const result = await (await rig.service.stream('app', { messages: [user('Do it.')] })).readRest();
    expect([result.error?.code, result.isDone]).toEqual(['upstream_unavailable', true]);
    const stages = result.deltas().flatMap(({ custom_content: custom }) => custom?.stages ?? []);
    expect(stages.at(-1)?.status).toBe('completed');
  });
});

describe('a client that disconnects', () => {
  it('cancels every tool', async () => {
    api.script(() => undefined);
    await using rig = await startRigWith(
      tools('one', 'two', 'three'),
      calls(['one', {}], ['two', {}], ['three', {}]),
      says('Never.'),
    );
    const before = api.requests.length;
    const stream = await rig.service.stream('app', { messages: [user('Do all.')] });
    const toolRequests = await Promise.all([0, 1, 2].map((index) => api.request(before + index)));
    await expectClosedOnDisconnect(toolRequests, () => stream.disconnect());
    expect(rig.model.requests).toHaveLength(1);
  });

  it('cancels a token request or a model request in progress', async () => {
    api.script(() => undefined);
    const authorization = { type: 'client_id_secret', client_id: 'c', client_secret: 's', token_url: `${api.url}/token` };
    const [toolset] = tools('one').web_api_toolset;
    await using rig = await startRigWith(
      { web_api_toolset: [{ ...toolset, authorization }] },
      calls(['one', {}]),
      says('Never.'),
    );
    const before = api.requests.length;
    const first = rig.service.chatAndDisconnect('app', { messages: [user('Do it.')] });
    await api.request(before);
    first.disconnect();
    rig.model.script(() => undefined);
    const requestCount = rig.model.requests.length;
    const second = rig.service.chatAndDisconnect('app', { messages: [user('Again.')] });
    const modelRequest = await rig.model.request(requestCount);
    await expectClosedOnDisconnect(modelRequest, () => second.disconnect());
  });
});

describe('tool names', () => {
  it('are unique, and each call reaches its own tool', async () => {
    const app = { ...tools('same'), web_api_toolset_alternative: tools('same').web_api_toolset };
    await using rig = await startRigWith(app, says('Hello.'));
    await rig.chat('Hello');
    const [first = '', second = ''] = rig.offered().map((tool) => tool.function.name);
    expect([first, second]).toEqual(['same', expect.stringMatching(/^same_[0-9a-f]{8}$/)]);
    rig.model.script(calls([second, {}]), says('Done.'));
    await rig.chat('Call the second.');
    expect(getToolMessages(rig)).toEqual(['from /same']);
  });
});

describe('an unavailable toolset', () => {
  it('is a failed stage, and the other tools work', async () => {
    const mcp_toolset = [
      { type: 'mcp', name: 'Far away', mcp_server_info: { url: 'https://mcp.example/', protocol: 'streamable_http' } },
    ];
    await using rig = await startRigWith({ ...tools('one'), mcp_toolset }, calls(['one', {}]), says('Done.'));
    const response = await rig.chat('Do it.');
    expect(getStages(response).map(({ name, status }) => [name, status])).toEqual([
      ['Far away', 'failed'],
      ['one', 'completed'],
    ]);
    expect(getMessage(response).content).toBe('Done.');
  });
});

describe('the next request', () => {
  it('sends the model the tool results and each text once', async () => {
    await using rig = await startRigWith(
      tools('one'),
      calls('Let me see.', ['one', {}]),
      says('Done.'),
      says('You are welcome.'),
    );
    const first = getMessage(await rig.chat('Do it.'));
    await rig.chat([user('Do it.'), first, user('Thanks.')]);
    expect(rig.sent().slice(1)).toEqual([
      { role: 'user', content: 'Do it.' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'one', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_0', content: 'from /one' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Thanks.' },
    ]);
  });

  it('sends the model the text of the reply if the state is missing', async () => {
    await using rig = await startRigWith(
      tools('one'),
      calls('Let me see.', ['one', {}]),
      says('Done.'),
      says('You are welcome.'),
    );
    const { content } = getMessage(await rig.chat('Do it.'));
    await rig.chat([user('Do it.'), { role: 'assistant', content }, user('Thanks.')]);
    expect(rig.sent()[2]).toEqual({ role: 'assistant', content: 'Let me see.\n\nDone.' });
  });

  it('requires no state if no tool was called', async () => {
    await using rig = await startRigWith(tools('one'), says('Hello.'));
    expect(getMessage(await rig.chat('Hello'))).toEqual({ role: 'assistant', content: 'Hello.' });
  });
});

it('every chunk of a reply and the complete reply name the called application as their model', async () => {
  const client_toolset = ['ring', 'knock'].map((name) => ({ name, description: 'Makes a noise.', parameters: [] }));
  await using rig = await startRig({
    app: { ...tools('one'), client_toolset },
    replies: [calls(['one', {}]), calls('Now.', ['ring', {}], ['knock', {}])],
    configuration: { keys: { 'caller-key': { project: 'test', role: 'admin' } } },
  });
  const headers = { 'x-parley-trace': 'true' };
  const { chunks } = await (await rig.service.stream('app', { messages: [user('Do it.')] }, headers)).readRest();
  expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['app']));
  rig.model.script(calls(['ring', {}], ['knock', {}]));
  const first = await rig.chat('Do it.');
  const second = await rig.chat([user('Do it.'), getMessage(first), { role: 'function', name: 'ring', content: 'rung' }]);
  expect([first, second].map(({ completion }) => completion.model)).toEqual(['app', 'app']);
  expect(getMessage(second)).toMatchObject({ function_call: { name: 'knock' } });
});

it('a run accepts model replies that are not streamed', async () => {
  const call = { id: 'a', type: 'function', function: { name: 'one', arguments: '{}' } };
  const replyWith = (message: object, finish_reason: string) =>
    jsonReply({
      ...{ id: 'c', object: 'chat.completion', created: 1, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
    });
  await using rig = await startRigWith(
    tools('one'),
    replyWith({ content: null, tool_calls: [call] }, 'tool_calls'),
    replyWith({ content: 'Done.' }, 'stop'),
  );
  const response = await rig.chat('Do it.');
  expect([getMessage(response).content, getToolMessages(rig)]).toEqual(['Done.', ['from /one']]);
  expect(response.completion.usage?.total_tokens).toBe(4);
});

it('stages, attachments, and controls of the model are relayed under new indices', async () => {
  const replyWithStage = (name: string) =>
    eventsReply(
      delta({ custom_content: { stages: [{ index: 0, name, status: null } as StageDelta] } }),
      delta({ custom_content: { stages: [{ index: 0, content: 'x', status: 'completed' } as StageDelta] } }),
      delta({ custom_content: { controls: [{ index: 0, label: name }] } }),
      text('Done.'),
      finish(),
      usage(1, 1),
    );
  await using rig = await startRigWith(tools('one'), calls(['one', {}]), replyWithStage('inner'));
  const response = await rig.chat('Do it.');
  expect(getStages(response).map(({ index, name, status }) => [index, name, status])).toEqual([
    [0, 'one', 'completed'],
    [1, 'inner', 'completed'],
  ]);
  expect(getMessage(response).custom_content?.controls).toEqual([{ index: 0, label: 'inner' }]);
});
