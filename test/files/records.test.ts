import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey } from '#test/start-service.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

let files: FileService;

beforeAll(async () => {
  files = await startFilesOnDisk({}, { keys: { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } } });
});

afterAll(() => files[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;
type Kind = 'prompts' | 'conversations';

const record = {
  prompts: { id: 'prompts/b/p', folderId: 'prompts/b', name: 'p', content: 'Be brief.' },
  conversations: { id: 'conversations/b/c', folderId: 'conversations/b', name: 'c', messages: [{ role: 'user', content: 'Hi' }] },
} as const;
const types = { prompts: 'PROMPT', conversations: 'CONVERSATION' } as const;

function send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<TestResponse> {
  const allHeaders = { 'api-key': callerKey, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
  return sendRequest(files.url, { method, path, headers: allHeaders, body });
}

const toPath = (kind: Kind, path: string): string => `/v1/${kind}/${files.bucket}/${path}`;

describe.each(['prompts', 'conversations'] as const)('%s', (kind) => {
  beforeEach(async () => {
    await send('PUT', toPath(kind, 'kept'), record[kind]);
  });

  it('are returned byte for byte, with unknown fields', async () => {
    const text = `{ "more": {"__proto__": 1, "deep": [1e400, 12345678901234567890]},\n${JSON.stringify(record[kind]).slice(1)}`;
    const put = await send('PUT', toPath(kind, 'a/b%20c%2Fd'), text);
    const { etag } = put.json as { etag: string };
    expect([put.status, put.headers.etag]).toEqual([200, `"${etag}"`]);
    expect(put.json).toMatchObject({
      name: 'd',
      parentPath: 'a/b c',
      bucket: files.bucket,
      url: `${kind}/${files.bucket}/a/b%20c/d`,
      nodeType: 'ITEM',
      resourceType: types[kind],
      contentType: 'application/json',
      contentLength: Buffer.byteLength(text),
    });
    const response = await send('GET', toPath(kind, 'a/b%20c/d'));
    expect([response.text, response.headers.etag, response.headers['content-type']]).toEqual([
      text,
      `"${etag}"`,
      'application/json',
    ]);
    expect((await send('GET', `/v1/metadata/${kind}/${files.bucket}/a/b%20c/d`)).json).toEqual({
      ...(put.json as object),
      items: null,
    });
  });

  it('can have long conversation titles as names', async () => {
    const name = encodeURIComponent(`demo__${'日'.repeat(290)} ?#`);
    expect((await send('PUT', toPath(kind, name), record[kind])).status).toBe(200);
    expect((await send('GET', toPath(kind, name))).status).toBe(200);
    const { items } = (await send('GET', `/v1/metadata/${kind}/${files.bucket}?limit=1000&recursive=true`)).json as {
      items: { name: string; url: string; updatedAt: number }[];
    };
    expect(items).toContainEqual(
      expect.objectContaining({
        name: decodeURIComponent(name),
        url: `${kind}/${files.bucket}/${name}`,
        updatedAt: expect.any(Number),
      }),
    );
  });

  it('can have paths of at most 900 bytes', async () => {
    const longest = `${'a'.repeat(896)}%C3%BC/b`;
    expect((await send('PUT', toPath(kind, longest), record[kind])).status).toBe(200);
    for (const [method, base] of [
      ['PUT', toPath(kind, '')],
      ['GET', toPath(kind, '')],
      ['DELETE', toPath(kind, '')],
      ['GET', `/v1/metadata/${kind}/${files.bucket}/`],
    ] as const) {
      const { status, error } = await send(method, `${base}${longest}c`, method === 'PUT' ? record[kind] : undefined);
      expect([status, error.code, error.param]).toEqual([400, 'invalid_request', 'path']);
    }
  });

  it('are written only if their conditional headers match', async () => {
    const first = await send('PUT', toPath(kind, 'new'), record[kind], { 'if-none-match': '*' });
    expect(first.status).toBe(200);
    expect((await send('PUT', toPath(kind, 'new'), record[kind], { 'if-none-match': '*' })).status).toBe(412);
    const { etag } = first.headers;
    expect((await send('GET', toPath(kind, 'new'), undefined, { 'if-none-match': String(etag) })).status).toBe(304);
    expect((await send('PUT', toPath(kind, 'new'), record[kind], { 'if-match': '"other"' })).status).toBe(412);
    expect((await send('PUT', toPath(kind, 'new'), record[kind], { 'if-match': String(etag) })).status).toBe(200);
    expect((await send('DELETE', toPath(kind, 'new'), undefined, { 'if-match': String(etag) })).status).toBe(412);
    expect((await send('DELETE', toPath(kind, 'new'))).status).toBe(204);
    expect((await send('GET', toPath(kind, 'new'))).error.code).toBe('file_not_found');
  });

  it('are independent of files with the same path', async () => {
    await files.put('kept', 'a file');
    expect((await send('GET', toPath(kind, 'kept'))).json).toEqual(record[kind]);
    expect((await send('DELETE', toPath(kind, 'kept'))).status).toBe(204);
    expect((await files.get('kept')).text).toBe('a file');
    const list = (await files.metadata('')).json as { items: { resourceType: string }[] };
    expect(list.items.every(({ resourceType }) => resourceType === 'FILE')).toBe(true);
  });

  it('in a folder are listed with the folder, and the last page has no token', async () => {
    await send('PUT', toPath(kind, 'in/one'), record[kind]);
    await send('PUT', toPath(kind, 'in/two'), record[kind]);
    const folder = { bucket: files.bucket, nodeType: 'FOLDER', resourceType: types[kind] };
    const first = (await send('GET', `/v1/metadata/${kind}/${files.bucket}/in/?limit=1`)).json as { nextToken: string };
    expect(first).toMatchObject({ ...folder, name: 'in', parentPath: null, url: `${kind}/${files.bucket}/in/` });
    const nextPath = `/v1/metadata/${kind}/${files.bucket}/in?token=${first.nextToken}`;
    const second = (await send('GET', nextPath)).json as { items: object[] };
    expect([second.items.length, 'nextToken' in second]).toEqual([1, false]);
    expect((await send('GET', `/v1/metadata/${kind}/${files.bucket}/none/`)).error.code).toBe('file_not_found');
  });

  it('of another user are rejected, whether or not they exist', async () => {
    for (const path of [toPath(kind, 'kept'), toPath(kind, 'none'), `/v1/metadata/${kind}/${files.bucket}/`]) {
      const { status, error } = await send('GET', path, undefined, { 'api-key': 'other-key' });
      expect([status, error.code]).toEqual([403, 'access_denied']);
    }
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? record[kind] : undefined;
      expect((await send(method, toPath(kind, 'kept'), body, { 'api-key': 'other-key' })).status).toBe(403);
    }
    expect((await send('GET', toPath(kind, 'kept'))).status).toBe(200);
  });

  const { id: _id, ...withoutId } = record[kind];
  const contentField = kind === 'prompts' ? 'content' : 'messages';
  it.each([
    ['an array', '[]', null],
    ['invalid JSON', '{"id": ', null],
    ['a missing field', JSON.stringify(withoutId), 'id'],
    ['a field that is null', JSON.stringify({ ...record[kind], folderId: null }), 'folderId'],
    ['a number instead of a string', JSON.stringify({ ...record[kind], name: 1 }), 'name'],
    ['an object as the content', JSON.stringify({ ...record[kind], [contentField]: {} }), contentField],
    ['a NUL byte in the name', JSON.stringify({ ...record[kind], name: 'a\0b' }), 'name'],
    ['a duplicate field', `{"name": "n", ${JSON.stringify(record[kind]).slice(1)}`, 'name'],
    ['a duplicate nested field', `{"x": [{"a b": 1, "a b": 2}], ${JSON.stringify(record[kind]).slice(1)}`, 'x[0]["a b"]'],
  ])('are rejected and not changed with %s', async (_, text, param) => {
    const before = await send('GET', toPath(kind, 'kept'));
    const { status, error } = await send('PUT', toPath(kind, 'kept'), text);
    expect([status, error.param]).toEqual([400, param]);
    expect((await send('GET', toPath(kind, 'kept'))).headers.etag).toBe(before.headers.etag);
  });

  it('require the content type application/json', async () => {
    const { status, error } = await send('PUT', toPath(kind, 'x'), JSON.stringify(record[kind]), {
      'content-type': 'text/plain',
    });
    expect([status, error.code]).toEqual([415, 'unsupported_media_type']);
  });

  const maxBytes = kind === 'prompts' ? 1024 ** 2 : 16 * 1024 ** 2;
  it('can have the maximum size, and are rejected beyond it', async () => {
    const text = JSON.stringify(record[kind]);
    const createText = (bytes: number): string => `${text.slice(0, -1)}${' '.repeat(bytes - text.length)}}`;
    expect(await send('PUT', toPath(kind, 'large'), createText(maxBytes))).toMatchObject({ status: 200 });
    const { status, error } = await send('PUT', toPath(kind, 'large'), createText(maxBytes + 1));
    expect([status, error.code]).toEqual([413, 'payload_too_large']);
  });
});

it('the conversation IDs of the Conversations API are not buckets', async () => {
  const { status, error } = await send('GET', '/v1/conversations/conv_1234/items');
  expect([status, error.code]).toEqual([404, 'route_not_found']);
});

describe('the public bucket', () => {
  it.each([
    ['files', 'FILE'],
    ['prompts', 'PROMPT'],
    ['conversations', 'CONVERSATION'],
    ['applications', 'APPLICATION'],
  ])('exists for every caller, and contains no %s', async (kind, resourceType) => {
    const { status, json } = await send('GET', `/v1/metadata/${kind}/public/?recursive=true`);
    const node = { name: null, parentPath: null, bucket: 'public', url: `${kind}/public/`, nodeType: 'FOLDER', resourceType };
    expect([status, json]).toEqual([200, { ...node, items: [], ...(kind === 'files' && { nextToken: null }) }]);
  });

  it('rejects writes', async () => {
    expect((await send('PUT', '/v1/prompts/public/mine', record.prompts)).status).toBe(403);
    expect((await send('DELETE', '/v1/conversations/public/mine')).status).toBe(403);
    expect((await send('PUT', '/v1/files/public/mine', 'x', { 'content-type': 'text/plain' })).status).toBe(403);
    expect((await send('GET', '/v1/prompts/public/mine')).error.code).toBe('file_not_found');
  });
});

describe('the lists of shared and published resources', () => {
  it('are empty', async () => {
    const shares = { resourceTypes: ['CONVERSATION', 'PROMPT'], with: 'me', order: 'popular_desc' };
    expect((await send('POST', '/v1/ops/resource/share/list', shares)).json).toEqual({ resources: [] });
    const publications = { url: 'publications/public/' };
    expect((await send('POST', '/v1/ops/publication/list', publications)).json).toEqual({ publications: [] });
  });

  it.each([
    ['/v1/ops/resource/share/list', {}, 'resourceTypes'],
    ['/v1/ops/resource/share/list', { resourceTypes: ['FILE', 1] }, 'resourceTypes[1]'],
    ['/v1/ops/resource/share/list', { resourceTypes: ['FILE'], with: 'nobody' }, 'with'],
    ['/v1/ops/publication/list', { url: ['x'] }, 'url'],
    ['/v1/ops/publication/list', '{"url": "a", "url": "b"}', 'url'],
    ['/v1/ops/publication/list', { url: 'a\0' }, 'url'],
  ])('are rejected at %s for %j', async (path, body, param) => {
    const { status, error } = await send('POST', path, body);
    expect([status, error.param]).toEqual([400, param]);
  });
});
