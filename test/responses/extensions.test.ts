import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text, usage } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { eventsReply, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { createClient, post, readEvents, readResponse } from './support.ts';

let database: ResponseDatabase;
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  database = await openResponses('SQLite');
  upstream = await startScriptedUpstream();
  service = await startService(
    {
      models: { m: { upstreams: [{ endpoint: upstream.endpoint, model: 'up' }], maxRetryAttempts: 1 } },
      applications: { app: { endpoint: `${upstream.endpoint}/chat/completions` } },
      keys: { [callerKey]: { project: 'p' } },
    },
    { responses: database.stores() },
  );
});
afterAll(async () => {
  await service.close();
  await upstream.close();
  await database[Symbol.asyncDispose]();
});

describe('extension items', () => {
  const include = ['parley:stages', 'parley:attachments', 'parley:controls', 'parley:statistics'];
  const custom = (custom_content: object) => delta({ custom_content } as never);
  const stage = { index: 0, name: 'Look', content: 'Looking.', status: 'completed' };
  const attachment = { index: 0, type: 'text/plain', title: 'A', data: 'a' };
  const control = { index: 0, label: 'Yes' };
  const custom_content = { stages: [stage], attachments: [attachment], controls: [control] };
  const message = { role: 'assistant', content: 'Done.', custom_content };
  const head = { id: 'c', created: 1, model: 'app' };
  const completion = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const chunks = [
    delta({ role: 'assistant' } as never),
    custom({ stages: [stage] }),
    text('Done.'),
    custom({ attachments: [attachment], controls: [control] }),
    finish(),
    usage(1, 1),
  ];
  /** Scripts an application that streams if the request has `stream: true`. */
  const script = (): void =>
    upstream.script((exchange) =>
      (exchange.received.body.stream === true ? eventsReply(...chunks) : jsonReply(completion))(exchange),
    );
  const types = (output: { type: string }[]): string[] => output.map(({ type }) => type);
  const expectedTypes = ['parley:stage', 'message', 'parley:attachment', 'parley:control'];

  it('have the same order and a status in JSON and in a stream', async () => {
    script();
    const completeResponse = readResponse(await post(service, { model: 'app', input: 'Go.', include, store: false }));
    const events = await readEvents(service, { model: 'app', input: 'Go.', include });
    const { output } = (events.at(-1) as unknown as { response: { output: { type: string; status: string }[] } }).response;
    expect([types(completeResponse.output), types(output)]).toEqual([expectedTypes, expectedTypes]);
    for (const items of [completeResponse.output, output])
      expect(items.map(({ status }: { status: string }) => status)).toEqual(expectedTypes.map(() => 'completed'));
  });

  it('are part of a stored response only if the request includes them', async () => {
    script();
    const { id } = readResponse(await post(service, { model: 'app', input: 'Go.', include }));
    const read = async (query = '') =>
      readResponse(await service.sendRequest({ method: 'GET', path: `/v1/responses/${id}${query}`, headers: withKey() }));
    const plain = await read();
    expect([types(plain.output), plain.parley]).toEqual([['message'], undefined]);
    const all = await read(`?${include.map((name) => `include[]=${name}`).join('&')}`);
    expect([types(all.output), all.parley.statistics.usage_per_model]).toEqual([expectedTypes, expect.any(Array)]);
    expect(types((await read('?include[]=parley:stages')).output)).toEqual(['parley:stage', 'message']);
  });

  it('are part of listed items only if the request includes them', async () => {
    const get = async (path: string) =>
      (await service.sendRequest({ method: 'GET', path, headers: withKey() })).json as { data: { id: string; type: string }[] };
    const create = { path: '/v1/conversations', headers: withKey(), body: {} };
    const { id: conversation } = (await service.sendRequest(create)).json as { id: string };
    script();
    const { id } = readResponse(await post(service, { model: 'app', input: 'Go.', include, conversation }));
    script();
    const second = { model: 'app', input: 'Again.', include, previous_response_id: id };
    const { id: next } = readResponse(await post(service, second));
    const all = include.map((name) => `include[]=${name}`).join('&');
    const items = `/v1/conversations/${conversation}/items`;
    for (const list of [items, `/v1/responses/${next}/input_items`]) {
      const plain = list === items ? ['message', 'message'] : ['message', 'message', 'message'];
      expect(types((await get(`${list}?order=asc`)).data)).toEqual(plain);
      expect(types((await get(`${list}?order=asc&${all}`)).data).slice(0, expectedTypes.length + 1)).toEqual([
        'message',
        ...expectedTypes,
      ]);
    }
    const { data } = await get(`${items}?${all}`);
    const stage = data.find(({ type }) => type === 'parley:stage')?.id;
    const getItem = (query: string) =>
      service.sendRequest({ method: 'GET', path: `${items}/${stage}${query}`, headers: withKey() });
    expect([(await getItem('')).status, (await getItem(`?${all}`)).status]).toEqual([404, 200]);
  });

  it('do not cause empty pages of listed items', async () => {
    const create = { path: '/v1/conversations', headers: withKey(), body: {} };
    const { id: conversation } = (await service.sendRequest(create)).json as { id: string };
    script();
    await post(service, { model: 'app', input: 'Go.', include, conversation });
    const items = await createClient(service).conversations.items.list(conversation, { limit: 1, order: 'asc' });
    const found: string[] = [];
    for await (const { type } of items) found.push(type);
    expect(found).toEqual(['message', 'message']);
  });
});

describe('request', () => {
  it.each([
    ['a name of 65 characters', { ['a'.repeat(65)]: 'b' }, `metadata.${'a'.repeat(64)}`],
    ['a value of 513 characters', { a: 'b'.repeat(513) }, 'metadata.a'],
    ['17 names', Object.fromEntries(Array.from({ length: 17 }, (_each, nth) => [`k${nth}`, 'v'])), 'metadata'],
  ])('is rejected if its metadata has %s', async (_what, metadata, param) => {
    const creating = createClient(service).responses.create({ model: 'm', input: 'Hi', metadata });
    await expect(creating).rejects.toMatchObject({ status: 400, param });
  });

  it.each(['input_image', 'input_file'])('is rejected if an assistant message has an %s', async (type) => {
    const part = { type, image_url: 'data:image/png;base64,iVBORw0KGgo=', file_data: 'YQ==', filename: 'a.pdf' };
    const assistantMessage = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Here.' }, part] };
    const { status, text: answer } = await post(service, {
      model: 'm',
      input: [assistantMessage, { role: 'user', content: 'And?' }],
    });
    expect([status, JSON.parse(answer).error.param]).toEqual([400, 'input[0].content[1].type']);
  });
});
