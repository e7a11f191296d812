import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import {
  buildOperations,
  calls,
  getMessage,
  getStages,
  type SentMessage,
  says,
  startRig,
  startRigWith,
  user,
} from './support.ts';

const city = { name: 'city', description: 'The city.', parameter_type: 'string' };
const clientTools = {
  client_toolset: [
    { name: 'get_weather', description: 'Gives the weather.', parameters: [city] },
    { name: 'open-door', description: 'Opens a door.', parameters: [] },
    {
      name: 'ring',
      description: 'Rings a bell.',
      parameters: [{ name: 'times', description: 'How often.', parameter_type: 'integer' }],
    },
  ],
};

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
});

beforeEach(() => api.script(({ received, response }) => void response.end(`from ${received.path}`)));

afterAll(() => api.close());

/** Client tools, and the operation `own` of an API. */
const withOwnOperation = (): object => ({ ...clientTools, ...buildOperations(api, 'own') });

const getCalledName = (message: object) => (message as { function_call?: { name: string } }).function_call?.name;
const result = (name: string, content: string): object => ({ role: 'function', name, content });
const listContents = (messages: readonly SentMessage[]) => messages.map(({ role, content }) => [role, content]);
const toolCall = (index: number, name: string, args: object = {}) => ({
  ...{ id: `call_${index}`, type: 'function' },
  function: { name, arguments: JSON.stringify(args) },
});

describe('a client tool', () => {
  it('is offered to the model as a function with its parameters', async () => {
    await using rig = await startRigWith(clientTools, says('Hello.'));
    await rig.chat('Hello');
    expect(rig.offered()[0]).toEqual({
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Gives the weather.',
        parameters: { type: 'object', properties: { city: { type: 'string', description: 'The city.' } }, required: ['city'] },
      },
    });
  });

  it('pauses the run when the model calls it, and the run continues with the same messages', async () => {
    await using rig = await startRigWith(
      clientTools,
      calls('Let me look.', ['get_weather', { city: 'Oslo' }]),
      says('Take a coat.'),
    );
    const question = [user('Do I need a coat in Oslo?')];
    const paused = await rig.chat(question);
    const { custom_content, ...message } = getMessage(paused);
    expect([message, paused.completion.choices[0]?.finish_reason]).toEqual([
      { role: 'assistant', content: 'Let me look.', function_call: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
      'function_call',
    ]);
    expect(Object.keys(custom_content ?? {})).toEqual(['state']);
    const before = rig.sent();
    const resumed = await rig.chat([...question, getMessage(paused), result('get_weather', 'Rain.')]);
    expect(getMessage(resumed).content).toBe('Take a coat.');
    expect(rig.sent()).toEqual([
      ...before,
      { role: 'assistant', content: 'Let me look.', tool_calls: [toolCall(0, 'get_weather', { city: 'Oslo' })] },
      { role: 'tool', tool_call_id: 'call_0', content: 'Rain.' },
    ]);
    expect(rig.offered()).toEqual(rig.offered(0));
  });

  it('streams its call completely: the call, the state, and the end', async () => {
    await using rig = await startRigWith(clientTools, calls(['get_weather', { city: 'Oslo' }]));
    const streamResult = await (await rig.service.stream('app', { messages: [user('Weather?')] })).readRest();
    const deltas = streamResult.deltas();
    expect(deltas.filter(({ function_call }) => function_call)).toEqual([
      { function_call: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
    ]);
    expect(deltas.filter(({ custom_content: custom }) => custom?.state)).toHaveLength(1);
    expect(streamResult.chunks.flatMap(({ choices: [choice] }) => choice?.finish_reason ?? [])).toEqual(['function_call']);
  });

  it('accepts a result under its name, or with underscores instead of dashes', async () => {
    await using rig = await startRigWith(
      clientTools,
      calls(['open-door', {}]),
      says('Open.'),
      calls(['open-door', {}]),
      says('Open.'),
    );
    const paused = await rig.chat('Open the door.');
    expect(getCalledName(getMessage(paused))).toBe('open-door');
    // Message names may not contain dashes.
    const response = await rig.chat([user('Open the door.'), getMessage(paused), result('open_door', 'It is open.')]);
    expect(getMessage(response).content).toBe('Open.');
    expect(rig.sent().at(-1)).toEqual({ role: 'tool', tool_call_id: 'call_0', content: 'It is open.' });
  });

  it('counts each call toward the maximum number of turns', async () => {
    await using rig = await startRig({
      app: clientTools,
      replies: [calls(['open-door', {}]), calls(['open-door', {}]), says('Enough.')],
      configuration: { tools: { maxTurns: 3 } },
    });
    const messages = [user('Open all doors.')];
    for (const index of [0, 1]) {
      const paused = getMessage(await rig.chat(messages));
      expect([index, getCalledName(paused)]).toEqual([index, 'open-door']);
      messages.push(paused, result('open_door', 'Open.'));
    }
    expect(getMessage(await rig.chat(messages)).content).toBe('Enough.');
    expect(rig.offered()).toEqual([]);
  });

  it('keeps its name if an operation has the same name', async () => {
    const app = { ...withOwnOperation(), client_toolset: [{ name: 'own', description: 'The caller’s.', parameters: [] }] };
    await using rig = await startRigWith(app, says('Hello.'));
    await rig.chat('Hello');
    expect(rig.offered().map((tool) => [tool.function.name, tool.function.description])).toEqual([
      ['own', 'The caller’s.'],
      [expect.stringMatching(/^own_[0-9a-f]{8}$/), 'Does own.'],
    ]);
  });
});

describe('several calls in one reply', () => {
  it('are returned one per reply, and the model receives all results together', async () => {
    const batch = calls(['get_weather', { city: 'Oslo' }], ['open-door', {}], ['ring', { times: 2 }]);
    await using rig = await startRigWith(clientTools, batch, says('Done.'));
    const messages = [user('Do all three.')];
    for (const [index, name] of ['get_weather', 'open-door', 'ring'].entries()) {
      const response = await rig.chat(messages);
      expect(getCalledName(getMessage(response))).toBe(name);
      expect([index, rig.model.requests.length]).toEqual([index, 1]);
      // Only model calls use tokens.
      expect(response.completion.usage?.total_tokens).toBe(index === 0 ? 12 : 0);
      messages.push(getMessage(response), result(name.replace('-', '_'), `${name} is done`));
    }
    expect(getMessage(await rig.chat(messages)).content).toBe('Done.');
    expect(rig.sent().slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [toolCall(0, 'get_weather', { city: 'Oslo' }), toolCall(1, 'open-door'), toolCall(2, 'ring', { times: 2 })],
      },
      { role: 'tool', tool_call_id: 'call_0', content: 'get_weather is done' },
      { role: 'tool', tool_call_id: 'call_1', content: 'open-door is done' },
      { role: 'tool', tool_call_id: 'call_2', content: 'ring is done' },
    ]);
  });

  it('continue from the newest state', async () => {
    await using rig = await startRigWith(clientTools, calls(['open-door', {}], ['ring', { times: 1 }]), says('Done.'));
    const question = user('Do both.');
    const first = getMessage(await rig.chat([question]));
    const second = getMessage(await rig.chat([question, first, result('open_door', 'Open.')]));
    await rig.chat([question, second, result('ring', 'Rang.')]);
    expect(
      rig
        .sent()
        .slice(-2)
        .map(({ content }) => content),
    ).toEqual(['Open.', 'Rang.']);
  });

  it('run the operations of the application first, and send all results in the requested order', async () => {
    await using rig = await startRigWith(
      withOwnOperation(),
      calls(['open-door', {}], ['own', {}], ['ring', { times: 1 }]),
      says('Done.'),
    );
    const messages = [user('Do all.')];
    const first = await rig.chat(messages);
    expect(getStages(first).map(({ name, status }) => [name, status])).toEqual([['own', 'completed']]);
    messages.push(getMessage(first), result('open_door', 'Open.'));
    messages.push(getMessage(await rig.chat(messages)), result('ring', 'Rang.'));
    const before = api.requests.length;
    await rig.chat(messages);
    expect(api.requests).toHaveLength(before);
    expect(
      rig
        .sent()
        .slice(-3)
        .map(({ tool_call_id: id, content }) => [id, content]),
    ).toEqual([
      ['call_0', 'Open.'],
      ['call_1', 'from /own'],
      ['call_2', 'Rang.'],
    ]);
  });
});

describe('a result', () => {
  it.each([
    ['for another function', 'ring'],
    ['for a function that does not exist', 'nothing'],
  ])('%s is rejected', async (_description, name) => {
    await using rig = await startRigWith(clientTools, calls(['open-door', {}]));
    const paused = getMessage(await rig.chat('Open.'));
    const { status, error } = await rig.chat([user('Open.'), paused, result(name, 'x')]);
    expect([status, error.param]).toEqual([400, 'messages[2].name']);
    expect(error.message).toBe('messages[2].name must be "open-door", the name of the function call that it answers.');
    expect(rig.model.requests).toHaveLength(1);
  });

  it('beyond the number of calls is rejected', async () => {
    await using rig = await startRigWith(clientTools, calls(['open-door', {}]));
    const paused = getMessage(await rig.chat('Open.'));
    const results = [result('open_door', 'a'), result('open_door', 'b')];
    const { status, error } = await rig.chat([user('Open.'), paused, ...results]);
    expect([status, error.param]).toEqual([400, 'messages[3].name']);
  });
});

describe('a run that the client does not continue', () => {
  it('reports its pending call to the model as not run', async () => {
    await using rig = await startRigWith(withOwnOperation(), calls(['own', {}], ['open-door', {}]), says('As you like.'));
    const paused = getMessage(await rig.chat('Open.'));
    await rig.chat([user('Open.'), paused, user('Leave it.')]);
    expect(listContents(rig.sent().slice(2))).toEqual([
      ['assistant', null],
      ['tool', 'from /own'],
      ['tool', 'The tool was not run, because the user continued without it.'],
      ['user', 'Leave it.'],
    ]);
  });

  it('retains its earlier results', async () => {
    await using rig = await startRigWith(clientTools, calls(['open-door', {}], ['ring', { times: 1 }]), says('As you like.'));
    const first = getMessage(await rig.chat('Do both.'));
    const second = getMessage(await rig.chat([user('Do both.'), first, result('open_door', 'Open.')]));
    await rig.chat([user('Do both.'), first, result('open_door', 'Open.'), second, user('Enough.')]);
    expect(listContents(rig.sent().slice(-3))).toEqual([
      ['tool', 'Open.'],
      ['tool', 'The tool was not run, because the user continued without it.'],
      ['user', 'Enough.'],
    ]);
  });
});

it('a run continues with the result if the client sends back the call without the state', async () => {
  await using rig = await startRigWith(clientTools, calls(['open-door', {}]), says('Open.'));
  const { function_call } = getMessage(await rig.chat('Open.'));
  const stateless = { role: 'assistant', function_call };
  const response = await rig.chat([user('Open.'), stateless, result('open_door', 'It is open.')]);
  expect(getMessage(response).content).toBe('Open.');
  expect(listContents(rig.sent().slice(-2))).toEqual([
    ['assistant', null],
    ['tool', 'It is open.'],
  ]);
});

it('the model receives all results of a finished run with client tools in the next request', async () => {
  await using rig = await startRigWith(
    clientTools,
    calls(['open-door', {}]),
    calls(['ring', { times: 1 }]),
    says('Done.'),
    says('Welcome.'),
  );
  const messages = [user('Open and ring.')];
  for (const name of ['open_door', 'ring']) messages.push(getMessage(await rig.chat(messages)), result(name, `${name}!`));
  messages.push(getMessage(await rig.chat(messages)), user('Thanks.'));
  await rig.chat(messages);
  expect(
    rig
      .sent()
      .slice(1)
      .map(({ role, content, tool_calls: [call] = [] }) => [role, content ?? call?.function.name]),
  ).toEqual([
    ['user', 'Open and ring.'],
    ['assistant', 'open-door'],
    ['tool', 'open_door!'],
    ['assistant', 'ring'],
    ['tool', 'ring!'],
    ['assistant', 'Done.'],
    ['user', 'Thanks.'],
  ]);
});

describe('a client function', () => {
  const functions = [{ name: 'get_time', description: 'Gives the time.', parameters: { type: 'object', properties: {} } }];

  it('is offered in addition to the tools of the application, and its call is returned to the client', async () => {
    await using rig = await startRigWith({}, calls(['get_time', {}]), says('Noon.'));
    const first = getMessage(await rig.chat('What time is it?', { functions }));
    expect(getCalledName(first)).toBe('get_time');
    const second = await rig.chat([user('What time is it?'), first, result('get_time', '12:00')], { functions });
    expect(getMessage(second).content).toBe('Noon.');
  });

  it('is not offered if function_call is none', async () => {
    await using rig = await startRigWith({}, says('I cannot tell.'));
    await rig.chat('What time is it?', { functions, function_call: 'none' });
    expect(rig.offered()).toEqual([]);
  });

  it('is forced by its name in the first turn only', async () => {
    await using rig = await startRigWith({}, calls(['get_time', {}]), says('Noon.'));
    const forced = { functions, function_call: { name: 'get_time' } };
    const first = getMessage(await rig.chat('Hello', forced));
    await rig.chat([user('Hello'), first, result('get_time', '12:00')], forced);
    expect(rig.model.requests.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'function', function: { name: 'get_time' } },
      undefined,
    ]);
  });
});

it('tool_choice can force a client tool, but not an operation', async () => {
  await using rig = await startRigWith(withOwnOperation(), says('1'), says('2'), says('3'));
  const choices = [{ type: 'function', function: { name: 'ring' } }, { type: 'function', function: { name: 'own' } }, 'required'];
  for (const tool_choice of choices) await rig.chat('Hello', { tool_choice });
  expect(rig.model.requests.map(({ body }) => body.tool_choice)).toEqual([choices[0], undefined, undefined]);
});
