import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { getBucket, getDeploymentBucket } from '#test/buckets.ts';
import { delta, finish, plainCompletion } from '#test/chunks.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import type { TestRequest, TestResponse } from '#test/send-request.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, quickApp, save } from '../applications/support.ts';

const alice = getBucket('key:alice');
const bob = getBucket('key:bob');
const salary = `files/${alice}/private/salary.txt`;
const givenFile = `files/${alice}/given.txt`;
const published = `applications/${bob}/published`;
const ownFile = `files/${getDeploymentBucket(published)}/report.txt`;
const anyApplication = { conditions: [{ condition_type: 'eq', property_name: 'application', const: true }] };

let host: ScriptedUpstream;
let service: TestService;
/** Handlers of requests to the applications `/published`, `/configured`, and `/own`. */
let handlers: Readonly<Record<string, (exchange: UpstreamExchange) => unknown>>;

beforeAll(async () => {
  host = await startScriptedUpstream();
  service = await startService(
    {
      models: { demo: { upstreams: [{ endpoint: host.endpoint }] } },
      applications: {
        configured: { endpoint: `${host.url}/configured` },
        finder: quickApp({ applications_as_tools: [anyApplication] }),
      },
      keys: { alice: { project: 'alice' }, bob: { project: 'bob' } },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    },
    { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } },
  );
  const applications: [name: string, owner: string, body: object][] = [
    ['published', 'bob', { endpoint: `${host.url}/published`, userRoles: ['default'] }],
    ['own', 'alice', { endpoint: `${host.url}/own` }],
    ['quick', 'alice', quickApp({ applications_as_tools: [anyApplication] })],
  ];
  for (const [name, owner, body] of applications) {
    const { status, text } = await save(service, getApplicationPath(name, getBucket(`key:${owner}`)), body, { 'api-key': owner });
    if (status !== 201) throw new Error(text);
  }
  for (const file of [salary, givenFile]) await sendAs('alice', 'PUT', `/v1/${file}`, `content of ${file}`);
});

afterAll(async () => {
  await service.close();
  await host.close();
});

beforeEach(() => {
  handlers = {};
  host.script(async (exchange) => {
    const handler = handlers[exchange.received.path.replace(/\?.*$/, '').slice(1)];
    if (handler === undefined) return callPublished(exchange);
    await handler(exchange);
  });
});

function sendAs(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  return service.sendRequest({ method, path, headers: { 'api-key': key, 'content-type': type }, body });
}

/** Acts as a model that calls the published application with both files and replies `done` after the tool result. */
function callPublished(exchange: UpstreamExchange): void | Promise<void> {
  const { messages, tools = [] } = exchange.received.body as {
    messages: { role: string }[];
    tools?: { function: { name: string; description: string } }[];
  };
  const tool = tools.find(({ function: { description } }) => description.includes('published'));
  if (tool === undefined || messages.at(-1)?.role === 'tool') return jsonReply(plainCompletion('done'))(exchange);
  const attachments = [salary, givenFile].map((url) => ({ url }));
  const call = { name: tool.function.name, arguments: JSON.stringify({ query: 'Read', attachments }) };
  const message = { role: 'assistant', content: null, tool_calls: [{ id: 'call_a', type: 'function', function: call }] };
  return jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))(exchange);
}

/** Reads the files with the key of the published application and returns the response statuses. */
async function readWith({ received }: UpstreamExchange): Promise<Record<string, number>> {
  const key = String(received.headers['api-key']);
  const read = async (file: string) => (await sendAs(key, 'GET', `/v1/${file}`)).status;
  return { salary: await read(salary), given: await read(givenFile) };
}

const toAttachments = (...urls: string[]) => urls.map((url, index) => ({ index, type: 'text/plain', title: 'a file', url }));
const replyWith = (custom_content: object, content = 'Here.') =>
  plainCompletion(content, {
    choices: [{ index: 0, message: { role: 'assistant', content, custom_content }, finish_reason: 'stop' }],
  });

describe('a reply of an application', () => {
  const stage = { index: 0, name: 'Search', status: 'completed' as const };
  const custom = {
    attachments: [
      ...toAttachments(salary, ownFile, 'https://example.com/x'),
      { index: 3, title: 'quoted', data: 'The text.', reference_url: salary },
    ],
    stages: [{ ...stage, attachments: toAttachments(salary, givenFile) }],
  };
  const body = { messages: [{ role: 'user', content: 'Read', custom_content: { attachments: toAttachments(givenFile) } }] };
  const readableContent = {
    attachments: [
      { index: 0, type: 'text/plain', title: 'a file', url: ownFile },
      { index: 1, type: 'text/plain', title: 'a file', url: 'https://example.com/x' },
      { index: 2, title: 'quoted', data: 'The text.' },
    ],
    stages: [{ ...stage, attachments: [{ index: 0, type: 'text/plain', title: 'a file', url: givenFile }] }],
  };

  it('contains only files that the application may read, as JSON', async () => {
    handlers = { published: jsonReply(replyWith(custom)) };
    const { json } = await service.chat(published, body, { 'api-key': 'alice' });
    expect((json as { choices: [{ message: object }] }).choices[0].message).toMatchObject({
      content: 'Here.',
      custom_content: readableContent,
    });
  });

  it('contains only files that the application may read, as a stream', async () => {
    handlers = { published: eventsReply(delta({ role: 'assistant', content: 'Here.', custom_content: custom }), finish()) };
    const { deltas } = await (await service.stream(published, body, { 'api-key': 'alice' })).readRest();
    expect(deltas().flatMap(({ custom_content: content }) => content ?? [])).toEqual([readableContent]);
  });

  it('contains no unreadable file reference that is split across chunks', async () => {
    const createChunk = (url: string) => delta({ custom_content: { attachments: [{ index: 0, url }] } });
    handlers = {
      published: eventsReply(createChunk('fil'), createChunk(`es/${alice}/private/`), createChunk('salary.txt'), finish()),
    };
    const { json } = await service.chat(published, body, { 'api-key': 'alice' });
    const { custom_content } = (json as { choices: [{ message: { custom_content: object } }] }).choices[0].message;
    expect(JSON.stringify(custom_content)).not.toContain('private');
  });

  it.each([
    ['another letter case', salary.replace('files', 'FILES')],
    ['a dot segment', `files/${bob}/../${alice}/private/salary.txt`],
    ['an encoded dot segment', `files/${bob}/%2e%2e/${alice}/private/salary.txt`],
    ['a leading dot', `./${salary}`],
    ['leading white space', ` ${salary}`],
    ['a tab', salary.replace('iles', '\tiles')],
    ['a fragment', `${salary}#page=2`],
    ['a trailing slash', `files/${alice}/private/`],
    ['the kind conversations', `conversations/${alice}/private/salary.txt`],
    ['an API path', `/v1/${salary}`],
  ])('contains no unreadable reference with %s', async (_, url) => {
    handlers = { published: jsonReply(replyWith({ attachments: toAttachments(url) })) };
    const { text } = await service.chat(published, body, { 'api-key': 'alice' });
    expect(text).not.toContain('"url"');
  });

  it.each<[string, TestRequest]>([
    [
      'messages',
      { path: '/msgapi/v1/messages', body: { model: published, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] } },
    ],
    [
      'responses',
      {
        path: '/v1/responses',
        body: { model: published, input: 'x', include: ['parley:attachments', 'parley:stages'], store: false },
      },
    ],
    [
      'MCP',
      {
        path: `/v1/deployments/${published}/mcp`,
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: published, arguments: { query: 'x' } } },
      },
    ],
  ])('contains only files that the application may read, on the API %s', async (_, request) => {
    handlers = { published: jsonReply(replyWith(custom)) };
    const { status, text } = await service.sendRequest({ ...request, headers: withKey('alice') });
    expect(status).toBe(200);
    expect(text).not.toContain('private/salary');
  });
});

describe('a file that an assistant message references', () => {
  const earlier = [
    { role: 'user', content: 'Read', custom_content: { attachments: toAttachments(givenFile) } },
    { role: 'assistant', content: 'Here.', custom_content: { attachments: toAttachments(salary) } },
  ];
  const conversation = [...earlier, { role: 'user', content: 'Go on' }];
  const notSalary = { salary: 403, given: 200 };

  /** Calls the published application through `first` and returns the result of its reads. */
  async function readThrough(first: string, request: Partial<TestRequest> & { body: object }): Promise<unknown> {
    let read: unknown = 'not called';
    handlers = {
      ...handlers,
      published: async (exchange) => {
        read = await readWith(exchange);
        await jsonReply(plainCompletion('done'))(exchange);
      },
    };
    const { status, text } = await service.sendRequest({ path: getChatPath(first), headers: withKey('alice'), ...request });
    expect([status, text]).toEqual([200, expect.any(String)]);
    return read;
  }

  it.each([
    ['the application itself', published],
    ["the user's own quick app", `applications/${alice}/quick`],
    ['a configured quick app', 'finder'],
  ])("is not readable for another user's application through %s", async (_, first) => {
    expect(await readThrough(first, { body: { messages: conversation } })).toEqual(notSalary);
  });

  it.each([['configured'], [`applications/${alice}/own`]])(
    "is not readable for another user's application through the application %s, which cannot grant access either",
    async (first) => {
      let ownStatuses: unknown;
      const call = async (exchange: UpstreamExchange): Promise<void> => {
        ownStatuses = await readWith(exchange);
        const key = String(exchange.received.headers['api-key']);
        const grant = { resourcePermissions: [{ url: salary, permissions: ['READ'] }], receiver: published };
        expect((await sendAs(key, 'POST', '/v1/ops/resource/per-request-permissions/grant', grant)).status).toBe(200);
        const body = { messages: [{ role: 'user', content: 'x', custom_content: { attachments: toAttachments(salary) } }] };
        await service.sendRequest({ path: getChatPath(published), headers: withKey(key), body });
        await jsonReply(plainCompletion('done'))(exchange);
      };
      handlers = { configured: call, own: call };
      expect(await readThrough(first, { body: { messages: conversation } })).toEqual(notSalary);
      expect(ownStatuses).toEqual({ salary: 200, given: 200 });
    },
  );

  it.each([['tool'], ['function'], ['developer'], ['system']])(
    "is not readable for another user's application if a message of the role %s references it",
    async (role) => {
      const referencing = { role, name: 'f', tool_call_id: 'a', content: [{ type: 'image_url', image_url: { url: salary } }] };
      const messages = [earlier[0], referencing, { role: 'user', content: 'Go on' }];
      const response = await service.chat(published, { messages }, { 'api-key': 'alice' });
      if (response.status === 400) return;
      expect(await readThrough(`applications/${alice}/quick`, { body: { messages } })).toEqual(notSalary);
      expect(await readThrough(published, { body: { messages } })).toEqual(notSalary);
    },
  );

  const input = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Read' },
        { type: 'input_file', file_url: givenFile, filename: 'given.txt' },
      ],
    },
    { role: 'assistant', content: 'Here.' },
    { type: 'parley:attachment', content_type: 'text/plain', url: salary },
    { role: 'user', content: 'Go on' },
  ];
  const result = [
    input[0],
    { type: 'function_call', call_id: 'call_a', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_a', output: [{ type: 'input_image', image_url: salary }] },
  ];

  it.each([
    ['an attachment of a response', published, input],
    ['an attachment of a response', `applications/${alice}/quick`, input],
    ['the result of a function', published, result],
    ['the result of a function', `applications/${alice}/quick`, result],
  ])("is not readable for another user's application as %s, sent to %s", async (_, model, items) => {
    const read = await readThrough('', { path: '/v1/responses', body: { model, input: items, store: false } });
    expect(read).toMatchObject({ salary: 403 });
  });

  const attachedContent = { custom_content: { attachments: toAttachments(salary) } };
  const blocks = [{ type: 'image', source: { type: 'url', url: salary } }];

  it.each([
    ['an attachment', [{ role: 'assistant', content: 'Here.', parley: attachedContent }]],
    [
      'the result of a tool',
      [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_a', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', content: blocks }] },
      ],
    ],
  ])("is not readable for another user's application as %s of the Messages API", async (_, earlierMessages) => {
    const messages = [{ role: 'user', content: 'Read' }, ...earlierMessages, { role: 'user', content: 'Go on' }];
    for (const model of [published, `applications/${alice}/quick`]) {
      const read = await readThrough('', { path: '/msgapi/v1/messages', body: { model, max_tokens: 9, messages } });
      expect(read).toMatchObject({ salary: 403 });
    }
  });
});

describe('a file that the reply of an inner call attaches', () => {
  it("is readable for the calling application, and not for another user's application", async () => {
    const secret = `files/${alice}/appdata/applications/${alice}/own/notes.txt`;
    await sendAs('alice', 'PUT', `/v1/${secret}`, 'notes');
    const statuses: number[] = [];
    const read = async (key: string): Promise<void> => {
      statuses.push((await sendAs(key, 'GET', `/v1/${secret}`)).status);
    };
    handlers = {
      own: jsonReply(replyWith({ attachments: toAttachments(secret) })),
      published: async (exchange) => {
        await read(String(exchange.received.headers['api-key']));
        await jsonReply(plainCompletion('done'))(exchange);
      },
      configured: async (exchange) => {
        const key = String(exchange.received.headers['api-key']);
        const attachments = toAttachments(secret);
        const body = { messages: [{ role: 'user', content: 'x', custom_content: { attachments } }] };
        await service.sendRequest({ path: getChatPath(`applications/${alice}/own`), headers: withKey(key), body });
        await read(key);
        await service.sendRequest({ path: getChatPath(published), headers: withKey(key), body });
        await jsonReply(plainCompletion('done'))(exchange);
      },
    };
    expect(
      (await service.chat('configured', { messages: [{ role: 'user', content: 'x' }] }, { 'api-key': 'alice' })).status,
    ).toBe(200);
    expect(statuses).toEqual([200, 403]);
  });
});
