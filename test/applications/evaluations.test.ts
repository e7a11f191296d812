import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, ownBucket, quickApp, remove, save } from './support.ts';

allowNonconformingUpstreams();

interface Result {
  readonly outcome: string;
  readonly answer: string;
  readonly verdicts: readonly { readonly passed: boolean; readonly reason: string }[];
  readonly toolRuns: readonly { readonly tool: string; readonly arguments: unknown }[];
  readonly trace: readonly { readonly kind: string }[];
  readonly error: { readonly code: string } | null;
  readonly costUsd: number | null;
}

interface EvaluationResponse {
  readonly id: string;
  readonly status: string;
  readonly version: number;
  readonly [key: string]: unknown;
  readonly results: readonly Result[];
}

const weather = {
  client_toolset: [
    {
      name: 'get_weather',
      description: 'Gives the weather of a city',
      parameters: [{ name: 'city', description: 'The city', parameter_type: 'string' }],
    },
  ],
};

describe.each(['SQLite', 'PostgreSQL'] as const)('an evaluation, on %s', (engine) => {
  let database: ResponseDatabase;
  let upstream: ScriptedUpstream;
  let service: TestService;
  let otherNode: TestService;

  beforeAll(async () => {
    database = await openResponses(engine);
    upstream = await startScriptedUpstream();
    const scripted = { protocol: 'openai', endpoint: upstream.endpoint, key: 'k' };
    const configuration = {
      models: {
        demo: { upstreams: [{ protocol: 'demo' }] },
        priced: { upstreams: [{ protocol: 'demo' }], pricing: { prompt: 0.001, completion: 0.001 } },
        judge: { upstreams: [scripted] },
        slow: { upstreams: [scripted] },
        secret: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] },
        rare: { upstreams: [{ protocol: 'demo' }] },
      },
      keys: { [callerKey]: { project: 'test' }, stranger: { project: 'stranger' } },
      roles: { default: { limits: { rare: { requestMinute: 1 } } } },
    };
    service = await startService(configuration, database.evaluating());
    otherNode = await startService(configuration, database.evaluating());
  });

  afterAll(async () => {
    await service.close();
    await otherNode.close();
    await upstream.close();
    await database[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await remove(service, getApplicationPath('team/app'));
    await save(service, getApplicationPath('team/app'), quickApp(weather));
  });

  const toPath = (kind: string, name = 'team/app'): string => `/v1/${kind}/applications/${ownBucket}/${name}`;

  function send(
    method: string,
    path: string,
    body?: unknown,
    { key = callerKey, node = service, type = 'application/json' } = {},
  ) {
    const headers = { 'api-key': key, ...(body !== undefined && { 'content-type': type }) };
    return node.sendRequest({ method, path, headers, body });
  }

  async function waitForEnd(id: string, node = service): Promise<EvaluationResponse> {
    for (;;) {
      const evaluation = (await send('GET', `/v1/evaluations/${id}`, undefined, { node })).json as EvaluationResponse;
      if (evaluation.status !== 'in_progress') return evaluation;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function evaluate(body?: unknown): Promise<EvaluationResponse> {
    const started = await send('POST', toPath('evaluations'), body);
    expect([started.status, started.text]).toEqual([202, expect.any(String)]);
    return waitForEnd((started.json as EvaluationResponse).id);
  }

  const toCase = (input: unknown, ...checks: object[]) => ({ cases: [{ input, checks }] });

  async function getVerdicts(input: unknown, ...checks: object[]): Promise<readonly (readonly [boolean, string])[]> {
    const { results } = await evaluate(toCase(input, ...checks));
    return results[0]?.verdicts.map(({ passed, reason }) => [passed, reason] as const) ?? [];
  }

  it('reports a verdict with a reason for each check', async () => {
    const verdicts = await getVerdicts(
      'Hello',
      { type: 'contains', text: 'HELLO', ignoreCase: true },
      { type: 'contains', text: 'a giraffe' },
      { type: 'matches', pattern: '(?i)hel+o' },
      { type: 'matches', pattern: '^giraffe$' },
      { type: 'equals', text: 'nothing' },
      { type: 'json_schema', schema: { type: 'object' } },
      { type: 'does_not_call', tool: 'get_weather' },
      { type: 'calls', tool: 'get_weather' },
      { type: 'time_at_most', seconds: 600 },
      { type: 'cost_at_most', usd: 1 },
    );
    expect(verdicts.map(([passed]) => passed)).toEqual([true, false, true, false, false, false, true, false, true, false]);
    expect(verdicts[1]?.[1]).toMatch(/^The answer does not contain "a giraffe"\. It is "/);
    expect(verdicts[7]?.[1]).toBe('get_weather was not called. No tool was called.');
    expect(verdicts[9]?.[1]).toBe('The cost is unknown, because a model that was used has no price.');
  });

  it('checks the arguments of tool calls, and the cost', async () => {
    await save(service, getApplicationPath('team/app'), quickApp({ ...weather, model: 'priced' }));
    const { results, ...evaluation } = await evaluate(
      toCase(
        'What is the weather in Oslo?',
        { type: 'calls', tool: 'get_weather', arguments: { city: 'Oslo' } },
        { type: 'calls', tool: 'get_weather', arguments: { city: 'Bergen' } },
        { type: 'does_not_call', tool: 'get_weather' },
        { type: 'cost_at_most', usd: 10 },
        { type: 'cost_at_most', usd: 0.0001 },
      ),
    );
    const [result] = results;
    expect(result?.verdicts.map(({ passed }) => passed)).toEqual([true, false, false, true, false]);
    expect(result?.verdicts[1]?.reason).toBe('get_weather was called with {"city":"Oslo"}, not with {"city":"Bergen"}.');
    expect(result?.toolRuns).toEqual([{ tool: 'get_weather', arguments: { city: 'Oslo' }, failed: false }]);
    expect(result?.trace.map(({ kind }) => kind)).toEqual(['model']);
    expect(result?.costUsd).toBeGreaterThan(0);
    expect(evaluation).toMatchObject({ status: 'completed', version: 2, total: 1, failed: 1, costUsd: result?.costUsd });
  });

  it('sends the rubric to a judge deployment, and reports its verdict', async () => {
    upstream.script(jsonReply(plainCompletion('{"passed": false, "reason": "It is rude."}')));
    const judgedCheck = { type: 'judged', deployment: 'judge', rubric: 'The answer is polite.' };
    expect(await getVerdicts('Hello', judgedCheck)).toEqual([[false, 'It is rude.']]);
    const judgeRequest = upstream.requests.at(-1)?.body as { messages: { content: string }[]; response_format: object };
    expect(JSON.parse(judgeRequest.messages[1]?.content ?? '')).toMatchObject({
      conversation: 'Hello',
      rubric: judgedCheck.rubric,
    });
    expect(judgeRequest.response_format).toMatchObject({ type: 'json_schema' });
    upstream.script(jsonReply(plainCompletion('I cannot say.')));
    expect(await getVerdicts('Hello', judgedCheck)).toEqual([[false, 'The judge returned no verdict: it is not JSON.']]);
    const [[passed, reason] = []] = await getVerdicts('Hello', { ...judgedCheck, deployment: 'secret' });
    expect([passed, reason]).toEqual([false, expect.stringMatching(/^secret could not judge: /)]);
  });

  it('has the same digest for the same answers, and another digest for other answers', async () => {
    const cases = ['Hello', 'What is the weather in Oslo?', 'Tell me a joke', 'Say something'].map((input) => ({
      input,
      checks: [],
    }));
    const [first, second] = [await evaluate({ cases }), await evaluate({ cases, parallel: 1 })];
    const toComparable = ({ results }: EvaluationResponse) =>
      JSON.stringify(results.map(({ outcome, answer, verdicts, toolRuns }) => ({ outcome, answer, verdicts, toolRuns })));
    expect(toComparable(first)).toBe(toComparable(second));
    expect(first.digest).toMatch(/^[\da-f]{64}$/);
    expect(second.digest).toBe(first.digest);
    expect((await evaluate({ cases: cases.slice(1) })).digest).not.toBe(first.digest);
  });

  it('shows regressions in the comparison of two versions', async () => {
    const cases = [
      { name: 'tool', input: 'What is the weather in Oslo?', checks: [{ type: 'calls', tool: 'get_weather' }] },
      { name: 'talk', input: 'Hello', checks: [{ type: 'matches', pattern: '.' }] },
    ];
    expect((await send('POST', toPath('cases'), cases)).status).toBe(201);
    await save(service, getApplicationPath('team/app'), quickApp());
    const after = await evaluate();
    const before = await evaluate({ version: 1 });
    expect([before.version, before.passed, after.version, after.passed, after.failed]).toEqual([1, 2, 2, 1, 1]);
    const compared = await send('GET', `/v1/evaluations/${after.id}/comparison?with=${before.id}`);
    expect(compared.json).toMatchObject({
      ...{ better: 0, worse: 1, same: 1, new: 0, gone: 0 },
      cases: [
        { name: 'tool', change: 'worse', before: { outcome: 'passed' } },
        { name: 'talk', change: 'same' },
      ],
    });
    const { error, status } = await send('GET', `/v1/evaluations/${after.id}/comparison?with=nothing`);
    expect([status, error.code]).toEqual([404, 'evaluation_not_found']);
  });

  it('waits for the limits of its user, and can be canceled while it waits', async () => {
    await save(service, getApplicationPath('team/app'), quickApp({ model: 'rare' }));
    await service.chat('rare', { messages: [{ role: 'user', content: 'Hello' }] });
    const limited = await send('POST', toPath('evaluations'), toCase('Hello'));
    const { id } = limited.json as EvaluationResponse;
    // The minute limit holds the call. The test cancels the evaluation instead of waiting.
    const cancelled = await send('POST', `/v1/evaluations/${id}/cancel`);
    expect(cancelled.json).toMatchObject({ status: 'cancelled', total: 1, passed: 0, errors: 0 });
  });

  it('counts a case without an answer as an error, not as failed', async () => {
    await save(service, getApplicationPath('team/app'), quickApp({ model: 'slow' }));
    upstream.script(jsonReply({ error: { message: 'no', type: 'x', code: 'bad' } }, 400));
    const { results, ...evaluation } = await evaluate(toCase('Hello', { type: 'contains', text: 'x' }));
    expect(evaluation).toMatchObject({ status: 'completed', errors: 1, failed: 0 });
    expect(results).toMatchObject([{ outcome: 'error', verdicts: [], error: { code: expect.any(String) } }]);
  });

  it('ends and disconnects its calls when it is canceled, also from another node', async () => {
    await save(service, getApplicationPath('team/app'), quickApp({ model: 'slow' }));
    for (const node of engine === 'PostgreSQL' ? [service, otherNode] : [service]) {
      upstream.script(() => undefined);
      const requestCount = upstream.requests.length;
      const { id } = (await send('POST', toPath('evaluations'), toCase('Hello'))).json as EvaluationResponse;
      const request = await upstream.request(requestCount);
      const cancelled = await send('POST', `/v1/evaluations/${id}/cancel`, undefined, { node });
      expect(cancelled.json).toMatchObject({ status: 'cancelled' });
      expect((await request.closed).early).toBe(true);
      expect(await waitForEnd(id)).toMatchObject({ status: 'cancelled', results: [] });
      expect((await send('POST', `/v1/evaluations/${id}/cancel`)).json).toMatchObject({ status: 'cancelled' });
    }
  });

  it('fails if its node has ended', async () => {
    const { evaluations } = database.evaluating();
    const started = {
      ...{ id: `lost-${engine}`, application: `applications/${ownBucket}/team/app`, version: 1, subject: 'key:test' },
      ...{ status: 'in_progress' as const, total: 1, tally: { passed: 0, failed: 0, errors: 0 }, startedAtMs: 1 },
      ...{ endedAtMs: undefined, error: undefined, costUsd: undefined, digest: undefined },
    };
    const limits = { maxStored: 20, maxBytes: 1e9, maxInProgress: 9 };
    await evaluations.store.begin(started, 'a stopped node with a lease', limits);
    expect(await waitForEnd(started.id)).toMatchObject({
      status: 'failed',
      error: 'The node that ran this evaluation stopped. Start the evaluation again.',
    });
  });

  it('is rejected if three are in progress, and the list has the newest first', async () => {
    await save(service, getApplicationPath('team/app'), quickApp({ model: 'slow' }));
    upstream.script(() => undefined);
    const started = [];
    for (let index = 0; index < 3; index += 1)
      started.push((await send('POST', toPath('evaluations'), toCase('Hello'))).json as EvaluationResponse);
    const rejected = await send('POST', toPath('evaluations'), toCase('Hello'));
    expect([rejected.status, rejected.error.code]).toEqual([503, 'overloaded']);
    for (const { id } of started) await send('POST', `/v1/evaluations/${id}/cancel`);
    const list = (await send('GET', toPath('evaluations'))).json as { data: EvaluationResponse[] };
    expect(list.data.map(({ id }) => id)).toEqual(started.map(({ id }) => id).reverse());
  });

  it('belongs to the owner, and no other user can read, start, or cancel it', async () => {
    const { id } = await evaluate(toCase('Hello'));
    const [testCase] = ((await send('POST', toPath('cases'), { input: 'Hello', checks: [] })).json as { data: { id: string }[] })
      .data;
    const requests: [string, string, unknown, number][] = [
      ['GET', toPath('cases'), undefined, 403],
      ['POST', toPath('cases'), { input: 'x', checks: [] }, 403],
      ['PUT', `/v1/cases/${testCase?.id}`, { input: 'x', checks: [] }, 404],
      ['DELETE', `/v1/cases/${testCase?.id}`, undefined, 404],
      ['GET', toPath('evaluations'), undefined, 403],
      ['POST', toPath('evaluations'), {}, 403],
      ['GET', `/v1/evaluations/${id}`, undefined, 404],
      ['POST', `/v1/evaluations/${id}/cancel`, undefined, 404],
      ['GET', `/v1/evaluations/${id}/comparison?with=${id}`, undefined, 404],
    ];
    for (const [method, path, body, status] of requests)
      expect([method, path, (await send(method, path, body, { key: 'stranger' })).status]).toEqual([method, path, status]);
    expect(
      (await send('GET', toPath('cases').replace(ownBucket, getProjectBucket('stranger')), undefined, { key: 'stranger' }))
        .status,
    ).toBe(404);
  });

  it('is moved and deleted together with its application', async () => {
    const { id } = await evaluate(toCase('Hello'));
    await send('POST', toPath('cases'), { input: 'Hello', checks: [] });
    const { applications, evaluations } = database.evaluating();
    const [from, to] = ['team/app', 'moved'].map((name) => `applications/${ownBucket}/${name}`) as [string, string];
    expect(await applications.move({ from, to, replaces: true, nowMs: 1, etag: 'moved' })).toBe('moved');
    expect(((await send('GET', toPath('cases', 'moved'))).json as { data: unknown[] }).data).toHaveLength(1);
    expect((await send('GET', `/v1/evaluations/${id}`)).json).toMatchObject({ id, results: [{ outcome: 'passed' }] });
    await remove(service, getApplicationPath('moved'));
    expect((await send('GET', `/v1/evaluations/${id}`)).status).toBe(404);
    expect(await evaluations.store.cases.list(to)).toEqual([]);
  });

  it('has cases that can be listed, changed, deleted, and imported from CSV', async () => {
    const table = [
      'name,input,contains,calls,max_seconds,judge,rubric',
      'one,"Hello, you",hi,,5,,',
      'two,Weather?,,"get_weather {""city"": ""Oslo""}",,judge,Is polite',
    ].join('\n');
    const added = await send('POST', toPath('cases'), table, { type: 'text/csv' });
    expect(added.status).toBe(201);
    const [first, second] = (added.json as { data: { id: string }[] }).data;
    expect(first).toMatchObject({
      ...{ name: 'one', input: 'Hello, you' },
      checks: [
        { type: 'contains', text: 'hi' },
        { type: 'time_at_most', seconds: 5 },
      ],
    });
    expect(second).toMatchObject({
      checks: [
        { type: 'calls', tool: 'get_weather', arguments: { city: 'Oslo' } },
        { type: 'judged', deployment: 'judge', rubric: 'Is polite' },
      ],
    });
    expect((await send('PUT', `/v1/cases/${first?.id}`, { input: 'Other', checks: [] })).json).toMatchObject({
      id: first?.id,
      input: 'Other',
    });
    expect((await send('DELETE', `/v1/cases/${second?.id}`)).status).toBe(204);
    expect((await send('GET', toPath('cases'))).json).toMatchObject({ data: [{ id: first?.id, input: 'Other', checks: [] }] });
  });
});

describe('cases that are invalid', () => {
  let database: ResponseDatabase;
  let service: TestService;

  beforeAll(async () => {
    database = await openResponses('SQLite');
    service = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } }, database.evaluating());
    await save(service, getApplicationPath('app'), quickApp());
  });

  afterAll(async () => {
    await service.close();
    await database[Symbol.asyncDispose]();
  });

  function add(body: unknown, type = 'application/json', added = {}): Promise<TestResponse> {
    const headers = { 'api-key': callerKey, 'content-type': type, ...added };
    return service.sendRequest({ method: 'POST', path: `/v1/cases/applications/${ownBucket}/app`, headers, body });
  }

  it.each([
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [{ role: 'user' }] }, 'input[0].content'],
    [{ input: 'x', checks: [{ type: 'is' }] }, 'checks[0].type'],
    [{ input: 'x', checks: [{ type: 'contains' }] }, 'checks[0].text'],
    [{ input: 'x', checks: [{ type: 'contains', text: 'x', more: 1 }] }, 'checks[0].more'],
    [{ input: 'x', checks: [{ type: 'matches', pattern: '(?=a)' }] }, 'checks[0].pattern'],
    [{ input: 'x', checks: [{ type: 'json_schema', schema: 'x' }] }, 'checks[0].schema'],
    [{ input: 'x', checks: [{ type: 'cost_at_most', usd: -1 }] }, 'checks[0].usd'],
    [
      [
        { input: 'x', checks: [] },
        { input: 'x', sort: 1 },
      ],
      '[1].sort',
    ],
    [{ cases: [{ input: 'x', name: '' }] }, 'cases[0].name'],
  ])('are rejected with the path of the error: %j', async (body, param) => {
    const { status, error } = await add(body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });

  it('are rejected if they are too long', async () => {
    const { error } = await add({ cases: [{ input: 'x'.repeat(200_001) }] });
    expect([error.param, error.message]).toEqual(['cases[0]', 'cases[0] must have at most 200000 characters of JSON.']);
  });

  it('are rejected together with the complete CSV table', async () => {
    expect((await add('name,entry\na,b', 'text/csv')).error.message).toMatch(
      /^The table has the unknown column "entry". Known columns: name, input/,
    );
    expect((await add('input,matches\nfine,a\nx,(', 'text/csv')).error.param).toBe('[1].checks[0].pattern');
    expect((await add('input\nx', 'text/csv', { 'content-encoding': 'gzip' })).error.code).toBe('unsupported_media_type');
    const list = await service.sendRequest({
      method: 'GET',
      path: `/v1/cases/applications/${ownBucket}/app`,
      headers: { 'api-key': callerKey },
    });
    expect((list.json as { data: unknown[] }).data).toEqual([]);
  });

  it('are rejected beyond a thousand cases', async () => {
    const createCases = (count: number) => Array.from({ length: count }, () => ({ input: 'x', checks: [] }));
    expect((await add(createCases(1001))).error.message).toBe('The body must have at most 1000 cases.');
    expect((await add(createCases(1000))).status).toBe(201);
    expect((await add(createCases(1))).error.message).toMatch(/at most 1000 cases/);
  });

  it('prevent the start of an evaluation if they are missing, as do a missing version and invalid parameters', async () => {
    await save(service, getApplicationPath('empty'), quickApp());
    const start = (body: unknown) =>
      service.sendRequest({
        path: `/v1/evaluations/applications/${ownBucket}/empty`,
        headers: { 'api-key': callerKey, 'content-type': 'application/json' },
        body,
      });
    expect((await start({})).error.param).toBe('cases');
    expect((await start({ version: 7 })).error.code).toBe('deployment_not_found');
    expect((await start({ version: 0 })).error.param).toBe('version');
    expect((await start({ parallel: 65 })).error.param).toBe('parallel');
    expect((await start({ model: 'x' })).error.param).toBe('model');
  });
});
