import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { type Answering, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { chatPath } from '#test/start-service.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

let host: ScriptedUpstream;
let files: FileService;
/** The bucket of `other-key`. */
let others: string;

beforeAll(async () => {
  host = await startScriptedUpstream();
  files = await startFilesOnDisk(
    {},
    {
      applications: { app: { endpoint: `${host.url}/app` }, second: { endpoint: `${host.url}/second` } },
      keys: { 'caller-key': { project: 'test' }, 'same-project': { project: 'test' }, 'other-key': { project: 'other' } },
    },
  );
  others = await bucketOf('other-key');
  for (const name of ['given', 'given%20too', 'kept']) await files.put(name, `content of ${name}`);
  await as('other-key', 'PUT', `/v1/files/${others}/theirs`, 'content of theirs');
});

afterAll(async () => {
  await files[Symbol.asyncDispose]();
  await host.close();
});

function as(key: string, method: string, path: string, body?: string): Promise<TestResponse> {
  return sendRequest(files.url, { method, path, headers: { 'api-key': key }, body });
}

async function bucketOf(key: string): Promise<string> {
  return ((await as(key, 'GET', '/v1/bucket')).json as { bucket: string }).bucket;
}

const attachment = (url: string, index = 0) => ({ index, type: 'text/plain', title: 'a file', url });
const attached = (...urls: string[]) => ({
  messages: [{ role: 'user', content: 'read', custom_content: { attachments: urls.map(attachment) } }],
});

/** Has an application answer a request; what it does with its key meanwhile is given. */
async function whileAnswering<Done>(
  body: object,
  work: (key: string, answering: Answering) => Promise<Done>,
  deployment = 'app',
): Promise<Done> {
  let done: Promise<Done> | undefined;
  host.script(async (answering) => {
    done = work(String(answering.received.headers['api-key']), answering);
    await done.catch(() => undefined);
    jsonReply(plainCompletion('done'))(answering);
  });
  const { status } = await files.service.chat(deployment, body);
  expect(status).toBe(200);
  return done ?? expect.unreachable();
}

const reference = (name: string): string => `files/${files.bucket}/${name}`;

describe('a bucket', () => {
  it('is the same for all keys of a project, and different for other projects', async () => {
    expect(await bucketOf('caller-key')).toBe(files.bucket);
    expect(await bucketOf('same-project')).toBe(files.bucket);
    expect(files.bucket).toMatch(/^[\w-]{32}$/);
    expect(files.bucket).not.toContain('test');
    expect(others).not.toBe(files.bucket);
  });

  it('is pinned: changed, every stored file would be lost', () => {
    expect(files.bucket).toBe('5ApcOlItdw3lqWK42vkXNTCtAIUtdp22');
  });

  it('requires a key', async () => {
    const answer = await sendRequest(files.url, { method: 'GET', path: '/v1/bucket' });
    expect([answer.status, answer.error.code]).toEqual([401, 'missing_credentials']);
  });
});

describe('a foreign bucket', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('is closed to %s, whether the file exists or not', async (method) => {
    const answers: TestResponse[] = [];
    for (const name of ['theirs', 'none', 'theirs/below']) {
      answers.push(await as('caller-key', method, `/v1/files/${others}/${name}`, method === 'PUT' ? 'mine now' : undefined));
    }
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await as('other-key', 'GET', `/v1/files/${others}/theirs`)).text).toBe('content of theirs');
  });

  it('is not listed, and its files are hidden', async () => {
    for (const path of [`${others}/`, others, `${others}/?recursive=true`, `${others}/theirs`, `${others}/none`, 'nobody/']) {
      const { status, error } = await as('caller-key', 'GET', `/v1/metadata/files/${path}`);
      expect([path, status, error.code]).toEqual([path, 403, 'access_denied']);
    }
  });

  it('is rejected before conditions are evaluated', async () => {
    for (const condition of ['if-match', 'if-none-match']) {
      const headers = { 'api-key': 'caller-key', [condition]: '*' };
      const answer = await sendRequest(files.url, { method: 'PUT', path: `/v1/files/${others}/theirs`, headers, body: 'x' });
      expect(answer.status).toBe(403);
    }
  });

  it('is closed to unknown keys', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await as('unknown', method, `/v1/files/${files.bucket}/given`)).error.code).toBe('invalid_api_key');
  });
});

describe('the bucket of the sample', () => {
  const readings = [
    ['GET', '/v1/files/~sample/handbook.md'],
    ['GET', '/v1/files/%7Esample/handbook.md'],
    ['HEAD', '/v1/files/~sample/handbook.md'],
    ['GET', '/v1/metadata/files/~sample/handbook.md'],
  ] as const;

  beforeAll(async () => {
    const kept = await files.index.find(files.bucket, 'kept');
    if (kept === undefined) throw new Error('nothing is stored');
    await files.index.put({ ...kept, bucket: '~sample', path: 'handbook.md' }, undefined, Number.MAX_SAFE_INTEGER);
  });

  it('can be read with every valid key', async () => {
    const read = (key: string) => Promise.all(readings.map(async ([method, path]) => (await as(key, method, path)).status));
    const handedOn = await whileAnswering({ messages: hello }, read);
    expect([await read('caller-key'), await read('other-key'), handedOn]).toEqual(Array(3).fill([200, 200, 200, 200]));
    expect((await as('other-key', ...readings[0])).text).toBe('content of kept');
    expect((await as('other-key', 'GET', '/v1/files/~sample/none')).error.code).toBe('file_not_found');
  });

  it('cannot be read without a key, written, deleted, or listed', async () => {
    for (const [method, path] of readings) expect((await as('unknown', method, path)).status).toBe(401);
    const answers = await Promise.all([
      as('caller-key', 'PUT', '/v1/files/~sample/handbook.md', 'mine now'),
      as('caller-key', 'PUT', '/v1/files/~sample/new', 'new'),
      as('caller-key', 'DELETE', '/v1/files/~sample/handbook.md'),
      as('caller-key', 'GET', '/v1/metadata/files/~sample/'),
      as('caller-key', 'GET', '/v1/files/~SAMPLE/handbook.md'),
      as('caller-key', 'GET', '/v1/files/~sample2/handbook.md'),
    ]);
    expect(answers.map(({ status, error }) => [status, error.code])).toEqual(Array(6).fill([403, 'access_denied']));
    expect((await as('caller-key', ...readings[0])).text).toBe('content of kept');
  });
});

describe('a per-request key', () => {
  it('reads only the files that the request named', async () => {
    const statuses = await whileAnswering(attached(reference('given')), async (key) => ({
      given: (await as(key, 'GET', `/v1/${reference('given')}`)).text,
      head: (await as(key, 'HEAD', `/v1/${reference('given')}`)).status,
      metadata: (await as(key, 'GET', `/v1/metadata/${reference('given')}`)).status,
      kept: (await as(key, 'GET', `/v1/${reference('kept')}`)).status,
      absent: (await as(key, 'GET', `/v1/${reference('none')}`)).status,
      theirs: (await as(key, 'GET', `/v1/files/${others}/theirs`)).status,
    }));
    expect(statuses).toEqual({ given: 'content of given', head: 200, metadata: 200, kept: 403, absent: 403, theirs: 403 });
  });

  it('cannot write, delete, or list the user’s files', async () => {
    const refused = await whileAnswering(attached(reference('given')), (key) =>
      Promise.all([
        as(key, 'PUT', `/v1/${reference('given')}`, 'changed'),
        as(key, 'PUT', `/v1/${reference('new')}`, 'new'),
        as(key, 'DELETE', `/v1/${reference('given')}`),
        as(key, 'GET', `/v1/metadata/files/${files.bucket}/`),
      ]),
    );
    expect(refused.map(({ status, error }) => [status, error.code])).toEqual(Array(4).fill([403, 'access_denied']));
    expect((await files.get('given')).text).toBe('content of given');
  });

  it('cannot read after its call has ended', async () => {
    const key = await whileAnswering(attached(reference('given')), async (given) => given);
    const after = await as(key, 'GET', `/v1/${reference('given')}`);
    expect([after.status, after.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('cannot read a file of another user that the request names', async () => {
    const status = await whileAnswering(attached(`files/${others}/theirs`), async (key) => {
      return (await as(key, 'GET', `/v1/files/${others}/theirs`)).status;
    });
    expect(status).toBe(403);
  });

  it('reads a file that an earlier reply names if the application is configured', async () => {
    const earlier = { role: 'assistant', content: 'Done.', custom_content: { attachments: [attachment(reference('kept'))] } };
    const { messages } = attached(reference('given'));
    const body = { messages: [...messages, earlier, ...hello] };
    const statuses = await whileAnswering(body, (key) =>
      Promise.all(['given', 'kept'].map(async (name) => (await as(key, 'GET', `/v1/${reference(name)}`)).status)),
    );
    expect(statuses).toEqual([200, 200]);
  });

  it('cannot gain a right by naming a file in its own request', async () => {
    const statuses = await whileAnswering(attached(reference('given')), async (outer) => {
      let inner: Promise<number[]> | undefined;
      host.script((answering) => {
        const key = String(answering.received.headers['api-key']);
        inner = Promise.all(['given', 'kept'].map(async (name) => (await as(key, 'GET', `/v1/${reference(name)}`)).status));
        return inner.then(() => jsonReply(plainCompletion('inner'))(answering));
      });
      const headers = { 'api-key': outer, 'content-type': 'application/json' };
      await sendRequest(files.url, { path: chatPath('second'), headers, body: attached(reference('kept')) });
      return inner;
    });
    expect(statuses).toEqual([200, 403]);
  });

  it.each([
    [
      'reference_url',
      () => ({ custom_content: { attachments: [{ data: 'x', reference_url: reference('given') }] }, content: 'x' }),
    ],
    ['an image', () => ({ content: [{ type: 'image_url', image_url: { url: reference('given') } }] })],
    ['an image given as text', () => ({ content: [{ type: 'image_url', image_url: reference('given') }] })],
    ['a file part', () => ({ content: [{ type: 'file', file: { filename: 'x', file_data: reference('given') } }] })],
    ['another spelling', () => ({ content: [{ type: 'image_url', image_url: { url: reference('%67iven') } }] })],
  ])('carries files named as %s', async (_, message) => {
    const body = { messages: [{ role: 'user', ...message() }, { role: 'assistant', content: 'and?' }, ...hello] };
    const { status } = await whileAnswering(body, (key) => as(key, 'GET', `/v1/${reference('given')}`));
    expect(status).toBe(200);
  });

  it.each([
    ['text', () => ({ content: `see ${reference('given')}` })],
    ['a text part', () => ({ content: [{ type: 'text', text: reference('given') }] })],
    ['a folder', () => ({ content: 'x', custom_content: { attachments: [{ url: `files/${files.bucket}/` }] } })],
    ['a way round', () => ({ content: 'x', custom_content: { attachments: [{ url: reference('x/../given') }] } })],
    ['the type __proto__', () => ({ content: [{ type: '__proto__' }] })],
  ])('does not carry files named as %s', async (_, message) => {
    const { status } = await whileAnswering({ messages: [{ role: 'user', ...message() }] }, (key) =>
      as(key, 'GET', `/v1/${reference('given')}`),
    );
    expect(status).toBe(403);
  });
});
