import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, plainCompletion, text, usage } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { watchNode } from '#test/watch-node.ts';
import { calls, getMessage, getStages, getToolMessages, quickApp, type Rig, says, startRig, user } from './support.ts';

let host: ScriptedUpstream;

beforeAll(async () => {
  host = await startScriptedUpstream();
});

beforeEach(() => host.script(jsonReply(plainCompletion('from the other'))));

afterAll(() => host.close());

type RigParts = Parameters<typeof startRig>[0];
type Configuration = NonNullable<RigParts['configuration']>;

const createOther = (fields: object = {}) => ({ endpoint: `${host.url}/other`, ...fields });
const usesTools = (...ids: readonly unknown[]) => ({ applications_as_tools: ids });
const buildRig = (app: object, replies: RigParts['replies'], configuration: Configuration = {}): Promise<Rig> =>
  startRig({ app, replies, configuration });
const listOfferedNames = (rig: Rig) => rig.offered().map((tool) => tool.function.name);

describe('a deployment as a tool', () => {
  it('is offered with its description, and receives only the question', async () => {
    const applications = { other: createOther({ displayName: 'Other', description: 'Knows pets.' }) };
    await using rig = await buildRig(usesTools('other'), [calls(['other', { query: 'What is new?' }]), says('Done.')], {
      applications,
    });
    const response = await rig.chat('Ask the other.');
    expect(rig.offered(0)[0]?.function).toMatchObject({
      name: 'other',
      description: 'Asks the application Other. Knows pets.',
      parameters: { required: ['query'] },
    });
    const [request] = host.requests.slice(-1);
    expect(request?.body).toEqual({ messages: [user('What is new?')], stream: true, stream_options: { include_usage: true } });
    expect(request?.headers['api-key']).not.toBe('caller-key');
    expect(getToolMessages(rig)).toEqual(['from the other']);
    expect(getStages(response)).toMatchObject([{ name: 'other', status: 'completed' }]);
  });

  it('has its open stage closed if its reply ends successfully', async () => {
    const openStage = { index: 0, name: 'Looking', status: null };
    host.script(eventsReply(delta({ custom_content: { stages: [openStage] } }), text('Found it.'), finish()));
    const replies = [calls(['other', { query: 'a' }]), says('Done.')];
    await using rig = await buildRig(usesTools('other'), replies, { applications: { other: createOther() } });
    expect(getStages(await rig.chat('Ask.')).map(({ name, status }) => [name, status])).toEqual([
      ['other', 'completed'],
      ['Looking', 'completed'],
    ]);
  });

  it('has its stages and attachments relayed once, under new indices', async () => {
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
    const applications = { other: createOther(), second: createOther() };
    const replies = [calls(['other', { query: 'a' }], ['second', { query: 'b' }]), says('Done.')];
    await using rig = await buildRig(usesTools('other', 'second'), replies, { applications });
    const response = await rig.chat('Ask both.');
    const stages = getStages(response);
    expect(stages.map(({ name }) => name).sort()).toEqual(['Looking', 'Looking', 'other', 'second']);
    expect(new Set(stages.map(({ index }) => index)).size).toBe(4);
    expect(stages.filter(({ name }) => name === 'Looking')).toMatchObject([{ content: 'here' }, { content: 'here' }]);
    expect(getMessage(response).custom_content?.attachments).toEqual([
      { index: 0, title: 'Found', data: 'x' },
      { index: 1, title: 'Found', data: 'x' },
    ]);
  });

  it('receives the attachments that the model names', async () => {
    const attachments = [{ type: 'text/plain', title: 'Note', url: 'https://files.example/a.txt' }];
    const replies = [
      calls(['other', { query: 'Read it.', attachments }], ['other', { query: 'x', attachments: [{}] }]),
      says('Done.'),
    ];
    await using rig = await buildRig(usesTools('other'), replies, { applications: { other: createOther() } });
    await rig.chat('Ask.');
    const custom_content = { attachments: [{ index: 0, ...attachments[0] }] };
    expect(host.requests.at(-1)?.body.messages).toEqual([{ ...user('Read it.'), custom_content }]);
    expect(getToolMessages(rig)[1]).toContain("arguments/attachments/0 must have required property 'url'");
  });

  it('can be a model, or a quick app with its own tools', async () => {
    const models = { second: { upstreams: [{ endpoint: host.endpoint }] } };
    const applications = { inner: quickApp({ ...usesTools('second'), instructions: 'You are the inner one.' }) };
    const replies = [calls(['inner', { query: 'a' }]), calls(['second', { query: 'b' }]), says('From within.'), says('Done.')];
    await using rig = await buildRig(usesTools('inner'), replies, { models, applications });
    const response = await rig.chat('Ask.');
    expect(rig.sent(1)[0]?.content).toBe('You are the inner one.');
    expect(getToolMessages(rig)).toEqual(['From within.']);
    expect(getStages(response).map(({ name, status }) => [name, status])).toEqual([
      ['inner', 'completed'],
      ['second', 'completed'],
    ]);
    expect(getMessage(response).content).toBe('Done.');
  });

  it('requires a question, and reports that it is missing', async () => {
    await using rig = await buildRig(usesTools('other'), [calls(['other', {}], ['other', { query: 7 }]), says('Done.')], {
      applications: { other: createOther() },
    });
    const before = host.requests.length;
    await rig.chat('Ask.');
    expect(getToolMessages(rig)).toEqual([
      expect.stringContaining("arguments must have required property 'query'"),
      expect.stringContaining('arguments/query must be string'),
    ]);
    expect(host.requests).toHaveLength(before);
  });

  it('that fails, or calls a function of its client, does not fail the run', async () => {
    const functionCall = { function_call: { name: 'f', arguments: '{}' } };
    host.script(
      jsonReply({ error: { message: 'no more today', code: 'x' } }, 500),
      eventsReply(delta(functionCall), finish('function_call')),
      eventsReply(text('half')),
    );
    const replies = [calls(['other', { query: 'a' }]), calls(['other', { query: 'b' }]), says('Done.')];
    await using rig = await buildRig(usesTools('other'), replies, { applications: { other: createOther() } });
    const response = await rig.chat('Ask.');
    expect(getToolMessages(rig)).toEqual([
      expect.stringContaining('no more today'),
      'The tool failed: other requested a function call, which is not possible for a deployment that is used as a tool.',
    ]);
    expect([getMessage(response).content, ...getStages(response).map(({ status }) => status)]).toEqual([
      'Done.',
      'failed',
      'failed',
    ]);
  });
});

it('cancels the called deployments and their inner calls if the client disconnects', async () => {
  host.script(() => undefined);
  const applications = { other: createOther(), inner: quickApp(usesTools('other')) };
  const replies = [calls(['inner', { query: 'a' }], ['other', { query: 'b' }]), calls(['other', { query: 'c' }])];
  await using rig = await buildRig(usesTools('inner', 'other'), replies, { applications });
  const before = host.requests.length;
  const stream = await rig.service.stream('app', { messages: [user('Ask all.')] });
  const innerCalls = await Promise.all([host.request(before), host.request(before + 1)]);
  await expectClosedOnDisconnect(innerCalls, () => stream.disconnect());
});

describe('tools that are selected from the deployments', () => {
  const upstreams = [{ protocol: 'demo' }];
  const models = {
    small: { upstreams, displayName: 'Small one', description: `Fast ${'a'.repeat(100)}!` },
    closed: { upstreams, userRoles: ['staff'] },
    vectors: { upstreams, type: 'embedding' },
  };
  const applications = () => ({
    pets: createOther({ description: 'Knows pets.' }),
    plants: createOther({ displayName: 'Plants', description: 'Knows plants.' }),
  });
  const equals = (property_name: string, value: unknown) => ({ condition_type: 'eq', property_name, const: value });
  const matches = (property_name: string, expression: string) => ({ condition_type: 'match', property_name, expression });
  const matchAll = (...conditions: object[]) => ({ conditions });

  it.each<[string, readonly unknown[], string[]]>([
    ['named deployments in their order, each once', ['plants', 'small', 'plants'], ['plants', 'small']],
    ['no deployments that are missing, closed, or cannot chat', ['nothing', 'closed', 'vectors', 'pets'], ['pets']],
    ['deployments with an ID', [matchAll(equals('id', 'pets'))], ['pets']],
    ['deployments with a display name', [matchAll(equals('display_name', 'Small one'))], ['small']],
    ['deployments without a display name, by their ID', [matchAll(equals('display_name', 'pets'))], ['pets']],
    ['deployments with a match anywhere in the description', [matchAll(matches('description', 'plant'))], ['plants']],
    ['deployments with a match of the complete ID', [matchAll(matches('id', '^p.*s$'))], ['pets', 'plants']],
    ['applications, by the value true', [matchAll(equals('application', true))], ['pets', 'plants']],
    ['applications, by the value application', [matchAll(equals('application', 'application'))], ['pets', 'plants']],
    ['models, by the value false', [matchAll(equals('application', false))], ['model', 'small']],
    ['models, by the value model', [matchAll(equals('application', 'model'))], ['model', 'small']],
    ['applications, by an expression', [matchAll(matches('application', '^app'))], ['pets', 'plants']],
    [
      'deployments that meet all conditions of one entry',
      [matchAll(equals('application', true), matches('description', 'pets'))],
      ['pets'],
    ],
    [
      'deployments that meet any entry',
      ['small', matchAll(equals('id', 'pets')), matchAll(equals('id', 'plants'))],
      ['small', 'pets', 'plants'],
    ],
    ['no deployments, by an expression with catastrophic backtracking', [matchAll(matches('description', '(a+)+$'))], []],
    ['no deployments, if none meets all conditions', [matchAll(equals('application', true), equals('application', false))], []],
  ])('are %s', async (_description, tools, names) => {
    await using rig = await buildRig(usesTools(...tools), [says('Hello.')], { models, applications: applications() });
    await rig.chat('Hello');
    expect(listOfferedNames(rig)).toEqual(names);
  });

  it('include deployments with a required role if the caller has it', async () => {
    const keys = { 'caller-key': { project: 'test' }, staff: { project: 'staff', role: 'staff' } };
    await using rig = await buildRig(usesTools('closed', matchAll(equals('application', false))), [says('Hello.')], {
      models,
      keys,
    });
    await rig.chat('Hello', {}, { 'api-key': 'staff' });
    expect(listOfferedNames(rig)).toEqual(['closed', 'model', 'small']);
  });

  it('have names that are valid for models', async () => {
    const id = 'team/Pets & plants: the long one that no model would take as the name of a tool';
    await using rig = await buildRig(usesTools(id), [says('Hello.')], { applications: { [id]: createOther() } });
    await rig.chat('Hello');
    const [name = ''] = listOfferedNames(rig);
    expect(name).toMatch(/^team_Pets_plants_[\w-]+_[0-9a-f]{8}$/);
    expect(name.length).toBe(64);
    rig.model.script(calls([name, { query: 'a' }]), says('Done.'));
    await rig.chat('Ask.');
    expect(getToolMessages(rig)).toEqual(['from the other']);
  });

  it('are logged once and listed in /health if they are missing saved applications, until the configuration drops them', async () => {
    const missingId = 'applications/bucket/lost';
    const watch = watchNode();
    await using rig = await startRig({
      app: usesTools(missingId, 'unknown', 'pets'),
      replies: [says('Hello.')],
      configuration: { applications: applications() },
      options: watch.options,
    });
    const state = watch.createState(rig.service);
    for (let index = 0; index < 2; index += 1) await rig.chat('Hello');
    // A configuration warning already reports `unknown`.
    const message = `app depends on ${missingId}, which does not exist`;
    expect([listOfferedNames(rig), watch.log]).toEqual([['pets'], [message]]);
    expect(state.listIssues()).toEqual([{ code: 'dependency_missing', message }]);
    rig.service.reload({
      models: { model: { upstreams: [{ endpoint: rig.model.endpoint }] } },
      applications: { app: quickApp(usesTools('pets')), pets: createOther() },
    });
    await rig.chat('Hello');
    expect([listOfferedNames(rig), state.listIssues()]).toEqual([['pets'], []]);
  });
});

describe('the usage of inner calls', () => {
  const createUsage = (model: string, prompt_tokens: number, completion_tokens: number) => ({
    ...{ model, name: model, prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  });

  it('is reported once per model, and the total is the sum', async () => {
    host.script(eventsReply(text('Hi.'), finish(), usage(100, 20)));
    const models = { second: { upstreams: [{ endpoint: host.endpoint }] } };
    const applications = { inner: quickApp({ model: 'second' }) };
    const replies = [calls(['inner', { query: 'a' }], ['second', { query: 'b' }]), says('Done.')];
    await using rig = await buildRig(usesTools('inner', 'second'), replies, { models, applications });
    const { completion } = await rig.chat('Ask both.');
    expect(completion.usage).toEqual({ prompt_tokens: 220, completion_tokens: 44, total_tokens: 264 });
    expect(completion.statistics?.usage_per_model).toEqual(
      expect.arrayContaining([
        { index: expect.any(Number), ...createUsage('model', 20, 4) },
        { index: expect.any(Number), ...createUsage('second', 200, 40) },
      ]),
    );
    expect(completion.statistics?.usage_per_model).toHaveLength(2);
  });

  it('contains the statistics that an application reports', async () => {
    const statistics = { usage_per_model: [{ index: 0, ...createUsage('far', 7, 3) }] };
    host.script(jsonReply(plainCompletion('Hi.', { statistics })));
    await using rig = await buildRig(usesTools('other'), [calls(['other', { query: 'a' }]), says('Done.')], {
      applications: { other: createOther() },
    });
    const { completion } = await rig.chat('Ask.');
    expect(completion.statistics?.usage_per_model).toEqual([
      { index: 0, ...createUsage('model', 20, 4) },
      { index: 1, ...createUsage('far', 7, 3) },
    ]);
    expect(completion.usage?.total_tokens).toBe(34);
  });

  it('counts once against the limits of the model', async () => {
    const roles = { default: { limits: { model: { day: 30 } } } };
    await using rig = await buildRig({}, [says('Hello.')], { roles });
    // Each call uses 12 tokens.
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) statuses.push((await rig.chat('Hello')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it('over the limit of a tool is reported to the model as a failed call', async () => {
    const roles = { default: { limits: { other: { requestDay: 1 } } } };
    const replies = [calls(['other', { query: 'a' }]), calls(['other', { query: 'b' }]), says('Done.')];
    await using rig = await buildRig(usesTools('other'), replies, { applications: { other: createOther() }, roles });
    const response = await rig.chat('Ask twice.');
    expect(getToolMessages(rig)).toEqual([
      'from the other',
      expect.stringMatching(/limit of 1 requests per day on other is used up/),
    ]);
    expect(getMessage(response).content).toBe('Done.');
  });
});

describe('a chain of inner calls', () => {
  it('ends after three returns to the same application, and the innermost model receives the error', async () => {
    await using rig = await buildRig(usesTools('app'), [callToolOnce]);
    const response = await rig.chat('Go round.');
    expect(response.status).toBe(200);
    const sentMessages = rig.model.requests.flatMap(({ body }) => body.messages as { role: string; content: string }[]);
    const depth = sentMessages.filter(({ role, content }) => role === 'tool' && /returns to app more than 3 times/.test(content));
    expect(depth).toHaveLength(1);
    // Four runs with two model calls each.
    expect(rig.model.requests).toHaveLength(8);
  });

  it('also ends if it returns through another application', async () => {
    const applications = { ping: quickApp(usesTools('pong')), pong: quickApp(usesTools('ping')) };
    await using rig = await buildRig(usesTools('ping'), [callToolOnce], { applications });
    expect((await rig.chat('Go round.')).status).toBe(200);
    const text = rig.model.requests.map((request) => request.text).join();
    expect(text).toContain('more than 3 times');
  });

  it('reports a missing consent to the model', async () => {
    const applications = { other: createOther({ displayName: 'The mailbox', features: { consentRequired: true } }) };
    await using rig = await buildRig(usesTools('other'), [calls(['other', { query: 'a' }]), says('Done.')], { applications });
    const before = host.requests.length;
    const response = await rig.chat('Ask.');
    expect(getToolMessages(rig)).toEqual([
      expect.stringMatching(/: The mailbox needs your consent before app may use it\. GET \/v1\/consent\/app/),
    ]);
    expect([getStages(response)[0]?.status, host.requests.length]).toEqual(['failed', before]);
  });
});

/** Calls the only tool that is offered, then replies with its result. */
function callToolOnce(exchange: UpstreamExchange): void | Promise<void> {
  const { messages, tools = [] } = exchange.received.body as {
    messages: { role: string; content: string }[];
    tools?: { function: { name: string } }[];
  };
  const last = messages.at(-1);
  const [tool] = tools;
  if (last?.role === 'tool' || tool === undefined) return says(`It said: ${last?.content.slice(0, 40)}`)(exchange);
  return calls([tool.function.name, { query: 'again' }])(exchange);
}
