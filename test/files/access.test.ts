import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { getChatPath } from '#test/start-service.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

let host: ScriptedUpstream;
let files: FileService;
/** The bucket of `other-key`. */
let otherBucket: string;

beforeAll(async () => {
  host = await startScriptedUpstream();
  files = await startFilesOnDisk(
    {},
    {
      applications: { app: { endpoint: `${host.url}/app` }, second: { endpoint: `${host.url}/second` } },
      keys: { 'caller-key': { project: 'test' }, 'same-project': { project: 'test' }, 'other-key': { project: 'other' } },
    },
  );
  otherBucket = await readBucket('other-key');
  for (const name of ['given', 'given%20too', 'kept']) await files.put(name, `content of ${name}`);
  await sendAs('other-key', 'PUT', `/v1/files/${otherBucket}/theirs`, 'content of theirs');
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
  await host.close();
});

function sendAs(key: string, method: string, path: string, body?: string): Promise<TestResponse> {
  return sendRequest(files.url, { method, path, headers: { 'api-key': key }, body });
}

async function readBucket(key: string): Promise<string> {
  return ((await sendAs(key, 'GET', '/v1/bucket')).json as { bucket: string }).bucket;
}

const attachment = (url: string, index = 0) => ({ index, type: 'text/plain', title: 'a file', url });
const toBody = (...urls: string[]) => ({
  messages: [{ role: 'user', content: 'read', custom_content: { attachments: urls.map(attachment) } }],
});

/** Makes an application answer a request, and returns the result of `work` with its per-request key during the call. */
async function callWithWork<Result>(
  body: object,
  work: (key: string, exchange: UpstreamExchange) => Promise<Result>,
  deployment = 'app',
): Promise<Result> {
  let result: Promise<Result> | undefined;
  host.script(async (exchange) => {
    result = work(String(exchange.received.headers['api-key']), exchange);
    await result.catch(() => undefined);
    jsonReply(plainCompletion('done'))(exchange);
  });
  const { status } = await files.service.chat(deployment, body);
  expect(status).toBe(200);
  return result ?? expect.unreachable();
}

const toReference = (name: string): string => `files/${files.bucket}/${name}`;

describe('a bucket', () => {
  it('is the same for all keys of a project, and different for other projects', async () => {
    expect(await readBucket('caller-key')).toBe(files.bucket);
    expect(await readBucket('same-project')).toBe(files.bucket);
    expect(files.bucket).toMatch(/^[\w-]{32}$/);
    expect(files.bucket).not.toContain('test');
    expect(otherBucket).not.toBe(files.bucket);
  });

  it('has a pinned name, because a change would make all stored files inaccessible', () => {
    expect(files.bucket).toBe('5ApcOlItdw3lqWK42vkXNTCtAIUtdp22');
  });

  it('requires a key', async () => {
    const answer = await sendRequest(files.url, { method: 'GET', path: '/v1/bucket' });
    expect([answer.status, answer.error.code]).toEqual([401, 'missing_credentials']);
  });
});

describe('the bucket of another user', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('rejects %s, whether or not the file exists', async (method) => {
    const answers: TestResponse[] = [];
    for (const name of ['theirs', 'none', 'theirs/below']) {
      answers.push(
        await sendAs('caller-key', method, `/v1/files/${otherBucket}/${name}`, method === 'PUT' ? 'mine now' : undefined),
      );
    }
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await sendAs('other-key', 'GET', `/v1/files/${otherBucket}/theirs`)).text).toBe('content of theirs');
  });

  it('cannot be listed, and its files have no metadata', async () => {
    for (const path of [
      `${otherBucket}/`,
      otherBucket,
      `${otherBucket}/?recursive=true`,
      `${otherBucket}/theirs`,
      `${otherBucket}/none`,
      'nobody/',
    ]) {
      const { status, error } = await sendAs('caller-key', 'GET', `/v1/metadata/files/${path}`);
      expect([path, status, error.code]).toEqual([path, 403, 'access_denied']);
    }
  });

  it('is checked before conditional headers', async () => {
    for (const condition of ['if-match', 'if-none-match']) {
      const headers = { 'api-key': 'caller-key', [condition]: '*' };
      const answer = await sendRequest(files.url, { method: 'PUT', path: `/v1/files/${otherBucket}/theirs`, headers, body: 'x' });
      expect(answer.status).toBe(403);
    }
  });

  it('is closed to requests with an unknown key', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await sendAs('unknown', method, `/v1/files/${files.bucket}/given`)).error.code).toBe('invalid_api_key');
  });
});

describe('the bucket of the sample files', () => {
  const readRequests = [
    ['GET', '/v1/files/~sample/handbook.md'],
    ['GET', '/v1/files/%7Esample/handbook.md'],
    ['HEAD', '/v1/files/~sample/handbook.md'],
    ['GET', '/v1/metadata/files/~sample/handbook.md'],
  ] as const;

  beforeAll(async () => {
    const storedFile = await files.index.find(files.bucket, 'kept');
    if (storedFile === undefined) throw new Error('nothing is stored');
    await files.index.put({ ...storedFile, bucket: '~sample', path: 'handbook.md' }, undefined, Number.MAX_SAFE_INTEGER);
  });

  it('can be read with every valid key, including per-request keys', async () => {
    const read = (key: string) =>
      Promise.all(readRequests.map(async ([method, path]) => (await sendAs(key, method, path)).status));
    const withPerRequestKey = await callWithWork({ messages: hello }, read);
    expect([await read('caller-key'), await read('other-key'), withPerRequestKey]).toEqual(Array(3).fill([200, 200, 200, 200]));
    expect((await sendAs('other-key', ...readRequests[0])).text).toBe('content of kept');
    expect((await sendAs('other-key', 'GET', '/v1/files/~sample/none')).error.code).toBe('file_not_found');
  });

  it('cannot be read without a valid key, written, deleted, or listed', async () => {
    for (const [method, path] of readRequests) expect((await sendAs('unknown', method, path)).status).toBe(401);
    const answers = await Promise.all([
      sendAs('caller-key', 'PUT', '/v1/files/~sample/handbook.md', 'mine now'),
      sendAs('caller-key', 'PUT', '/v1/files/~sample/new', 'new'),
      sendAs('caller-key', 'DELETE', '/v1/files/~sample/handbook.md'),
      sendAs('caller-key', 'GET', '/v1/metadata/files/~sample/'),
      sendAs('caller-key', 'GET', '/v1/files/~SAMPLE/handbook.md'),
      sendAs('caller-key', 'GET', '/v1/files/~sample2/handbook.md'),
    ]);
    expect(answers.map(({ status, error }) => [status, error.code])).toEqual(Array(6).fill([403, 'access_denied']));
    expect((await sendAs('caller-key', ...readRequests[0])).text).toBe('content of kept');
  });
});

describe('a per-request key', () => {
  it('reads only the files that the request references', async () => {
    const statuses = await callWithWork(toBody(toReference('given')), async (key) => ({
      given: (await sendAs(key, 'GET', `/v1/${toReference('given')}`)).text,
      head: (await sendAs(key, 'HEAD', `/v1/${toReference('given')}`)).status,
      metadata: (await sendAs(key, 'GET', `/v1/metadata/${toReference('given')}`)).status,
      kept: (await sendAs(key, 'GET', `/v1/${toReference('kept')}`)).status,
      absent: (await sendAs(key, 'GET', `/v1/${toReference('none')}`)).status,
      theirs: (await sendAs(key, 'GET', `/v1/files/${otherBucket}/theirs`)).status,
    }));
    expect(statuses).toEqual({ given: 'content of given', head: 200, metadata: 200, kept: 403, absent: 403, theirs: 403 });
  });

  it('cannot write, delete, or list the files of the user', async () => {
    const rejected = await callWithWork(toBody(toReference('given')), (key) =>
      Promise.all([
        sendAs(key, 'PUT', `/v1/${toReference('given')}`, 'changed'),
        sendAs(key, 'PUT', `/v1/${toReference('new')}`, 'new'),
        sendAs(key, 'DELETE', `/v1/${toReference('given')}`),
        sendAs(key, 'GET', `/v1/metadata/files/${files.bucket}/`),
      ]),
    );
    expect(rejected.map(({ status, error }) => [status, error.code])).toEqual(Array(4).fill([403, 'access_denied']));
    expect((await files.get('given')).text).toBe('content of given');
  });

  it('cannot read after its call has ended', async () => {
    const key = await callWithWork(toBody(toReference('given')), async (perRequestKey) => perRequestKey);
    const after = await sendAs(key, 'GET', `/v1/${toReference('given')}`);
    expect([after.status, after.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('cannot read a file of another user that the request references', async () => {
    const status = await callWithWork(toBody(`files/${otherBucket}/theirs`), async (key) => {
      return (await sendAs(key, 'GET', `/v1/files/${otherBucket}/theirs`)).status;
    });
    expect(status).toBe(403);
  });

  it('reads a file that an earlier reply references if the application is configured', async () => {
    const earlier = { role: 'assistant', content: 'Done.', custom_content: { attachments: [attachment(toReference('kept'))] } };
    const { messages } = toBody(toReference('given'));
    const body = { messages: [...messages, earlier, ...hello] };
    const statuses = await callWithWork(body, (key) =>
      Promise.all(['given', 'kept'].map(async (name) => (await sendAs(key, 'GET', `/v1/${toReference(name)}`)).status)),
    );
    expect(statuses).toEqual([200, 200]);
  });

  it('gains no access when it references a file in its own request', async () => {
    const statuses = await callWithWork(toBody(toReference('given')), async (outer) => {
      let inner: Promise<number[]> | undefined;
      host.script((exchange) => {
        const key = String(exchange.received.headers['api-key']);
        inner = Promise.all(['given', 'kept'].map(async (name) => (await sendAs(key, 'GET', `/v1/${toReference(name)}`)).status));
        return inner.then(() => jsonReply(plainCompletion('inner'))(exchange));
      });
      const headers = { 'api-key': outer, 'content-type': 'application/json' };
      await sendRequest(files.url, { path: getChatPath('second'), headers, body: toBody(toReference('kept')) });
      return inner;
    });
    expect(statuses).toEqual([200, 403]);
  });

  it.each([
    [
      'reference_url',
      () => ({ custom_content: { attachments: [{ data: 'x', reference_url: toReference('given') }] }, content: 'x' }),
    ],
    ['an image', () => ({ content: [{ type: 'image_url', image_url: { url: toReference('given') } }] })],
    ['an image URL as a string', () => ({ content: [{ type: 'image_url', image_url: toReference('given') }] })],
    ['a file part', () => ({ content: [{ type: 'file', file: { filename: 'x', file_data: toReference('given') } }] })],
    ['another encoding of the path', () => ({ content: [{ type: 'image_url', image_url: { url: toReference('%67iven') } }] })],
  ])('grants access to files that are referenced as %s', async (_, message) => {
    const body = { messages: [{ role: 'user', ...message() }, { role: 'assistant', content: 'and?' }, ...hello] };
    const { status } = await callWithWork(body, (key) => sendAs(key, 'GET', `/v1/${toReference('given')}`));
    expect(status).toBe(200);
  });

  it.each([
    ['text', () => ({ content: `see ${toReference('given')}` })],
    ['a text part', () => ({ content: [{ type: 'text', text: toReference('given') }] })],
    ['a folder', () => ({ content: 'x', custom_content: { attachments: [{ url: `files/${files.bucket}/` }] } })],
    ['a path with dot segments', () => ({ content: 'x', custom_content: { attachments: [{ url: toReference('x/../given') }] } })],
    ['the type __proto__', () => ({ content: [{ type: '__proto__' }] })],
  ])('grants no access to files that are referenced as %s', async (_, message) => {
    const { status } = await callWithWork({ messages: [{ role: 'user', ...message() }] }, (key) =>
      sendAs(key, 'GET', `/v1/${toReference('given')}`),
    );
    expect(status).toBe(403);
  });
});
