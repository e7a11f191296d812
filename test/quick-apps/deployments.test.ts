import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, plainCompletion, text, usage } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { type Answering, eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { watchNode } from '#test/watch-node.ts';
import { calls, messageOf, quickApp, type Rig, says, stagesOf, startRig, toldTo, user } from './support.ts';

let host: ScriptedUpstream;

beforeAll(async () => {
  host = await startScriptedUpstream();
});

beforeEach(() => host.script(jsonReply(plainCompletion('from the other'))));

afterAll(() => host.close());

type RigParts = Parameters<typeof startRig>[0];
type Configuration = NonNullable<RigParts['configuration']>;

const other = (fields: object = {}) => ({ endpoint: `${host.url}/other`, ...fields });
const asks = (...ids: readonly unknown[]) => ({ applications_as_tools: ids });
const rigOf = (app: object, replies: RigParts['replies'], configuration: Configuration = {}): Promise<Rig> =>
  startRig({ app, replies, configuration });
const namesOf = (rig: Rig) => rig.offered().map((offered) => offered.function.name);

describe('a deployment that is a tool', () => {
  it('is offered with what it is for, and asked with nothing but the question', async () => {
    const applications = { other: other({ displayName: 'Other', description: 'Knows pets.' }) };
    await using rig = await rigOf(asks('other'), [calls(['other', { query: 'What is new?' }]), says('Done.')], { applications });
    const answered = await rig.chat('Ask the other.');
    expect(rig.offered(0)[0]?.function).toMatchObject({
      name: 'other',
      description: 'Asks the application Other. Knows pets.',
      parameters: { required: ['query'] },
    });
    const [request] = host.requests.slice(-1);
    expect(request?.body).toEqual({ messages: [user('What is new?')], stream: true, stream_options: { include_usage: true } });
    expect(request?.headers['api-key']).not.toBe('caller-key');
    expect(toldTo(rig)).toEqual(['from the other']);
    expect(stagesOf(answered)).toMatchObject([{ name: 'other', status: 'completed' }]);
  });

  it('that leaves a stage open has it closed where its reply ended well', async () => {
    const left = { index: 0, name: 'Looking', status: null };
    host.script(eventsReply(delta({ custom_content: { stages: [left] } }), text('Found it.'), finish()));
    const replies = [calls(['other', { query: 'a' }]), says('Done.')];
    await using rig = await rigOf(asks('other'), replies, { applications: { other: other() } });
    expect(stagesOf(await rig.chat('Ask.')).map(({ name, status }) => [name, status])).toEqual([
      ['other', 'completed'],
      ['Looking', 'completed'],
    ]);
  });

  it('brings its stages and attachments up, each once, under indices of their own', async () => {
    const stage = (fields: Partial<StageDelta>) => delta({ custom_content: { stages: [{ index: 0, ...fields } as StageDelta] } });
    host.script(
      eventsReply(
        stage({ name: 'Looking', status: null }),
        stage({ content: 'here', status: 'completed' }),
        delta({ custom_content: { attachments: [{ index: 0, title: 'Found', data: 'x' }] } }),
        text('Found it.'),
        finish(),
      ),
    );
    const applications = { other: other(), second: other() };
    const replies = [calls(['other', { query: 'a' }], ['second', { query: 'b' }]), says('Done.')];
    await using rig = await rigOf(asks('other', 'second'), replies, { applications });
    const answered = await rig.chat('Ask both.');
    const stages = stagesOf(answered);
    expect(stages.map(({ name }) => name).sort()).toEqual(['Looking', 'Looking', 'other', 'second']);
    expect(new Set(stages.map(({ index }) => index)).size).toBe(4);
    expect(stages.filter(({ name }) => name === 'Looking')).toMatchObject([{ content: 'here' }, { content: 'here' }]);
    expect(messageOf(answered).custom_content?.attachments).toEqual([
      { index: 0, title: 'Found', data: 'x' },
      { index: 1, title: 'Found', data: 'x' },
    ]);
  });

  it('hands attachments on that the model names', async () => {
    const attachments = [{ type: 'text/plain', title: 'Note', url: 'https://files.example/a.txt' }];
    const replies = [
      calls(['other', { query: 'Read it.', attachments }], ['other', { query: 'x', attachments: [{}] }]),
      says('Done.'),
    ];
    await using rig = await rigOf(asks('other'), replies, { applications: { other: other() } });
    await rig.chat('Ask.');
    const custom_content = { attachments: [{ index: 0, ...attachments[0] }] };
    expect(host.requests.at(-1)?.body.messages).toEqual([{ ...user('Read it.'), custom_content }]);
    expect(toldTo(rig)[1]).toContain("arguments/attachments/0 must have required property 'url'");
  });

  it('may be a model, or another quick app with tools of its own', async () => {
    const models = { second: { upstreams: [{ endpoint: host.endpoint }] } };
    const applications = { inner: quickApp({ ...asks('second'), instructions: 'You are the inner one.' }) };
    const replies = [calls(['inner', { query: 'a' }]), calls(['second', { query: 'b' }]), says('From within.'), says('Done.')];
    await using rig = await rigOf(asks('inner'), replies, { models, applications });
    const answered = await rig.chat('Ask.');
    expect(rig.sent(1)[0]?.content).toBe('You are the inner one.');
    expect(toldTo(rig)).toEqual(['From within.']);
    expect(stagesOf(answered).map(({ name, status }) => [name, status])).toEqual([
      ['inner', 'completed'],
      ['second', 'completed'],
    ]);
    expect(messageOf(answered).content).toBe('Done.');
  });

  it('needs a question, and says so', async () => {
    await using rig = await rigOf(asks('other'), [calls(['other', {}], ['other', { query: 7 }]), says('Done.')], {
      applications: { other: other() },
    });
    const before = host.requests.length;
    await rig.chat('Ask.');
    expect(toldTo(rig)).toEqual([
      expect.stringContaining("arguments must have required property 'query'"),
      expect.stringContaining('arguments/query must be string'),
    ]);
    expect(host.requests).toHaveLength(before);
  });

  it('that fails, or wants something of its caller, fails alone', async () => {
    const functionCall = { function_call: { name: 'f', arguments: '{}' } };
    host.script(
      jsonReply({ error: { message: 'no more today', code: 'x' } }, 500),
      eventsReply(delta(functionCall), finish('function_call')),
      eventsReply(text('half')),
    );
    const replies = [calls(['other', { query: 'a' }]), calls(['other', { query: 'b' }]), says('Done.')];
    await using rig = await rigOf(asks('other'), replies, { applications: { other: other() } });
    const answered = await rig.chat('Ask.');
    expect(toldTo(rig)).toEqual([
      expect.stringContaining('no more today'),
      'The tool failed: other asked for a function of its caller, which a tool does not have.',
    ]);
    expect([messageOf(answered).content, ...stagesOf(answered).map(({ status }) => status)]).toEqual([
      'Done.',
      'failed',
      'failed',
    ]);
  });
});

it('cancels the called deployments and their inner calls if the client disconnects', async () => {
  host.script(() => undefined);
  const applications = { other: other(), inner: quickApp(asks('other')) };
  const replies = [calls(['inner', { query: 'a' }], ['other', { query: 'b' }]), calls(['other', { query: 'c' }])];
  await using rig = await rigOf(asks('inner', 'other'), replies, { applications });
  const before = host.requests.length;
  const stream = await rig.service.stream('app', { messages: [user('Ask all.')] });
  const asked = await Promise.all([host.request(before), host.request(before + 1)]);
  await expectClosedOnDisconnect(asked, () => stream.disconnect());
});

describe('which deployments are tools', () => {
  const upstreams = [{ protocol: 'demo' }];
  const models = {
    small: { upstreams, displayName: 'Small one', description: `Fast ${'a'.repeat(100)}!` },
    closed: { upstreams, userRoles: ['staff'] },
    vectors: { upstreams, type: 'embedding' },
  };
  const applications = () => ({
    pets: other({ description: 'Knows pets.' }),
    plants: other({ displayName: 'Plants', description: 'Knows plants.' }),
  });
  const eq = (property_name: string, value: unknown) => ({ condition_type: 'eq', property_name, const: value });
  const match = (property_name: string, expression: string) => ({ condition_type: 'match', property_name, expression });
  const all = (...conditions: object[]) => ({ conditions });

  it.each<[string, readonly unknown[], string[]]>([
    ['named ones, in the order named, each once', ['plants', 'small', 'plants'], ['plants', 'small']],
    ['none that is not there, closed, or no chat', ['nothing', 'closed', 'vectors', 'pets'], ['pets']],
    ['those with an id', [all(eq('id', 'pets'))], ['pets']],
    ['those with a name', [all(eq('display_name', 'Small one'))], ['small']],
    ['those named by their id for want of a name', [all(eq('display_name', 'pets'))], ['pets']],
    ['those whose description matches somewhere', [all(match('description', 'plant'))], ['plants']],
    ['those whose id matches as a whole', [all(match('id', '^p.*s$'))], ['pets', 'plants']],
    ['applications, by true', [all(eq('application', true))], ['pets', 'plants']],
    ['applications, by word', [all(eq('application', 'application'))], ['pets', 'plants']],
    ['models, by false', [all(eq('application', false))], ['model', 'small']],
    ['models, by word', [all(eq('application', 'model'))], ['model', 'small']],
    ['applications, by expression', [all(match('application', '^app'))], ['pets', 'plants']],
    ['all conditions of one entry', [all(eq('application', true), match('description', 'pets'))], ['pets']],
    ['any of several entries', ['small', all(eq('id', 'pets')), all(eq('id', 'plants'))], ['small', 'pets', 'plants']],
    ['none by an expression that would take others for ever', [all(match('description', '(a+)+$'))], []],
    ['none where nothing meets all', [all(eq('application', true), eq('application', false))], []],
  ])('are %s', async (_what, tools, names) => {
    await using rig = await rigOf(asks(...tools), [says('Hello.')], { models, applications: applications() });
    await rig.chat('Hello');
    expect(namesOf(rig)).toEqual(names);
  });

  it('are those that are open to the one who asks', async () => {
    const keys = { 'caller-key': { project: 'test' }, staff: { project: 'staff', role: 'staff' } };
    await using rig = await rigOf(asks('closed', all(eq('application', false))), [says('Hello.')], { models, keys });
    await rig.chat('Hello', {}, { 'api-key': 'staff' });
    expect(namesOf(rig)).toEqual(['closed', 'model', 'small']);
  });

  it('have names that models take', async () => {
    const id = 'team/Pets & plants: the long one that no model would take as the name of a tool';
    await using rig = await rigOf(asks(id), [says('Hello.')], { applications: { [id]: other() } });
    await rig.chat('Hello');
    const [name = ''] = namesOf(rig);
    expect(name).toMatch(/^team_Pets_plants_[\w-]+_[0-9a-f]{8}$/);
    expect(name.length).toBe(64);
    rig.model.script(calls([name, { query: 'a' }]), says('Done.'));
    await rig.chat('Ask.');
    expect(toldTo(rig)).toEqual(['from the other']);
  });

  it('that are missing and may come through the API are named in the log once and in /health, until nobody names them', async () => {
    const lost = 'applications/bucket/lost';
    const watch = watchNode();
    await using rig = await startRig({
      app: asks(lost, 'unknown', 'pets'),
      replies: [says('Hello.')],
      configuration: { applications: applications() },
      options: watch.options,
    });
    const state = watch.createState(rig.service);
    for (let nth = 0; nth < 2; nth += 1) await rig.chat('Hello');
    // Of the other one a warning of the configuration tells.
    const message = `app depends on ${lost}, which does not exist`;
    expect([namesOf(rig), watch.log]).toEqual([['pets'], [message]]);
    expect(state.listIssues()).toEqual([{ code: 'dependency_missing', message }]);
    rig.service.reload({
      models: { model: { upstreams: [{ endpoint: rig.model.endpoint }] } },
      applications: { app: quickApp(asks('pets')), pets: other() },
    });
    await rig.chat('Hello');
    expect([namesOf(rig), state.listIssues()]).toEqual([['pets'], []]);
  });
});

describe('what inner calls use', () => {
  const used = (model: string, prompt_tokens: number, completion_tokens: number) => ({
    ...{ model, name: model, prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  });

  it('comes up once, a model each, and usage is the sum', async () => {
    host.script(eventsReply(text('Hi.'), finish(), usage(100, 20)));
    const models = { second: { upstreams: [{ endpoint: host.endpoint }] } };
    const applications = { inner: quickApp({ model: 'second' }) };
    const replies = [calls(['inner', { query: 'a' }], ['second', { query: 'b' }]), says('Done.')];
    await using rig = await rigOf(asks('inner', 'second'), replies, { models, applications });
    const { completion } = await rig.chat('Ask both.');
    expect(completion.usage).toEqual({ prompt_tokens: 220, completion_tokens: 44, total_tokens: 264 });
    expect(completion.statistics?.usage_per_model).toEqual(
      expect.arrayContaining([
        { index: expect.any(Number), ...used('model', 20, 4) },
        { index: expect.any(Number), ...used('second', 200, 40) },
      ]),
    );
    expect(completion.statistics?.usage_per_model).toHaveLength(2);
  });

  it('of an application comes up as it reports it', async () => {
    const statistics = { usage_per_model: [{ index: 0, ...used('far', 7, 3) }] };
    host.script(jsonReply(plainCompletion('Hi.', { statistics })));
    await using rig = await rigOf(asks('other'), [calls(['other', { query: 'a' }]), says('Done.')], {
      applications: { other: other() },
    });
    const { completion } = await rig.chat('Ask.');
    expect(completion.statistics?.usage_per_model).toEqual([
      { index: 0, ...used('model', 20, 4) },
      { index: 1, ...used('far', 7, 3) },
    ]);
    expect(completion.usage?.total_tokens).toBe(34);
  });

  it('is held against limits of the model, once', async () => {
    const roles = { default: { limits: { model: { day: 30 } } } };
    await using rig = await rigOf({}, [says('Hello.')], { roles });
    // Each call uses 12 tokens.
    const statuses: number[] = [];
    for (let nth = 0; nth < 4; nth += 1) statuses.push((await rig.chat('Hello')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it('of a tool beyond its limit is told to the model', async () => {
    const roles = { default: { limits: { other: { requestDay: 1 } } } };
    const replies = [calls(['other', { query: 'a' }]), calls(['other', { query: 'b' }]), says('Done.')];
    await using rig = await rigOf(asks('other'), replies, { applications: { other: other() }, roles });
    const answered = await rig.chat('Ask twice.');
    expect(toldTo(rig)).toEqual(['from the other', expect.stringMatching(/limit of 1 requests per day on other is used up/)]);
    expect(messageOf(answered).content).toBe('Done.');
  });
});

describe('an application that calls itself', () => {
  it('is stopped after three returns, and the innermost model is told', async () => {
    await using rig = await rigOf(asks('app'), [askAgain]);
    const answered = await rig.chat('Go round.');
    expect(answered.status).toBe(200);
    const told = rig.model.requests.flatMap(({ body }) => body.messages as { role: string; content: string }[]);
    const depth = told.filter(({ role, content }) => role === 'tool' && /returns to app more than 3 times/.test(content));
    expect(depth).toHaveLength(1);
    // Four runs, each of which asks its model twice.
    expect(rig.model.requests).toHaveLength(8);
  });

  it('by way of others is stopped as well', async () => {
    const applications = { ping: quickApp(asks('pong')), pong: quickApp(asks('ping')) };
    await using rig = await rigOf(asks('ping'), [askAgain], { applications });
    expect((await rig.chat('Go round.')).status).toBe(200);
    const text = rig.model.requests.map((request) => request.text).join();
    expect(text).toContain('more than 3 times');
  });

  it('or another that needs consent tells the model so, and who can give it', async () => {
    const applications = { other: other({ displayName: 'The mailbox', features: { consentRequired: true } }) };
    await using rig = await rigOf(asks('other'), [calls(['other', { query: 'a' }]), says('Done.')], { applications });
    const before = host.requests.length;
    const answered = await rig.chat('Ask.');
    expect(toldTo(rig)).toEqual([
      expect.stringMatching(/: The mailbox needs your consent before app may use it\. GET \/v1\/consent\/app/),
    ]);
    expect([stagesOf(answered)[0]?.status, host.requests.length]).toEqual(['failed', before]);
  });
});

/** A model that asks the only tool it has, and says what came of it. */
function askAgain(answering: Answering): void | Promise<void> {
  const { messages, tools = [] } = answering.received.body as {
    messages: { role: string; content: string }[];
    tools?: { function: { name: string } }[];
  };
  const last = messages.at(-1);
  const [tool] = tools;
  if (last?.role === 'tool' || tool === undefined) return says(`It said: ${last?.content.slice(0, 40)}`)(answering);
  return calls([tool.function.name, { query: 'again' }])(answering);
}
