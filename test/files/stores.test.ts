import { randomBytes } from 'node:crypto';
import { request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { type FileService, openStore, startFiles, storeKinds, type TestStore } from './support.ts';

const key = { 'api-key': callerKey };

describe.each(storeKinds)('files stored in %s', (kind) => {
  let store: TestStore;
  let files: FileService;

  beforeAll(async () => {
    store = await openStore(kind);
    files = await startFiles({ blobs: store.blobs }, { files: { maxFileBytes: 12_000_000, maxBucketBytes: 20_000_000 } });
  });

  afterEach(async () => {
    for (const { path } of files.index.all) await files.send('DELETE', path);
    expect(await store.names()).toEqual([]);
    expect(files.errors).toEqual([]);
    await vi.waitUntil(() => files.index.reservations === 0);
  });

  afterAll(async () => {
    await files[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  it('are read with the content that was written, for every tested length', async () => {
    for (const length of [0, 1, 65_536, 5 * 1024 ** 2 - 1, 5 * 1024 ** 2, 5 * 1024 ** 2 + 1, 11_000_000]) {
      const content = randomBytes(length);
      const path = `${files.base}/of ${length}.bin`.replaceAll(' ', '%20');
      const put = await fetch(files.url + path, { method: 'PUT', headers: key, body: content });
      expect(put.status).toBe(200);
      expect(await put.json()).toMatchObject({ contentLength: length, contentType: 'application/octet-stream' });
      const response = await fetch(files.url + path, { headers: key });
      expect(response.headers.get('content-length')).toBe(String(length));
      expect(content.equals(await response.bytes())).toBe(true);
      await fetch(files.url + path, { method: 'DELETE', headers: key });
    }
  });

  it('have metadata in the upload response, on the metadata route, and in headers', async () => {
    const put = await files.put('a/b.txt', 'hello', { 'content-type': 'text/plain; charset=utf-8' });
    const metadata = put.json as { etag: string; createdAt: number; updatedAt: number };
    expect(metadata).toEqual({
      name: 'b.txt',
      parentPath: 'a',
      bucket: files.bucket,
      url: `files/${files.bucket}/a/b.txt`,
      nodeType: 'ITEM',
      resourceType: 'FILE',
      contentType: 'text/plain; charset=utf-8',
      contentLength: 5,
      etag: expect.stringMatching(/^[\w-]{20,}$/),
      createdAt: expect.any(Number),
      updatedAt: metadata.createdAt,
    });
    expect(put.headers.etag).toBe(`"${metadata.etag}"`);
    expect((await files.metadata('a/b.txt')).json).toEqual(metadata);
    for (const method of ['GET', 'HEAD']) {
      const { headers, status, text: body } = await files.send(method, 'a/b.txt');
      expect([status, body]).toEqual([200, method === 'GET' ? 'hello' : '']);
      expect(headers).toMatchObject({
        etag: `"${metadata.etag}"`,
        'content-length': '5',
        'content-type': 'text/plain; charset=utf-8',
        'accept-ranges': 'bytes',
      });
    }
  });

  it('replace the file at their path', async () => {
    const first = (await files.put('x', 'one')).json as { etag: string; createdAt: number };
    const second = (await files.put('x', 'two')).json as { etag: string; createdAt: number };
    expect(second.createdAt).toBe(first.createdAt);
    expect(second.etag).not.toBe(first.etag);
    expect((await files.get('x')).text).toBe('two');
    expect(await store.names()).toHaveLength(1);
  });

  it('cannot be read after they are deleted', async () => {
    await files.put('x', 'one');
    expect((await files.send('DELETE', 'x')).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      const answer = await files.send(method, 'x');
      expect([answer.status, answer.error.code]).toEqual([404, 'file_not_found']);
    }
    expect((await files.metadata('x')).error.code).toBe('file_not_found');
    expect((await files.send('HEAD', 'x')).status).toBe(404);
  });

  it.each([
    ['bytes=0-3', '0123', '0-3'],
    ['bytes=4-', '456789', '4-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=-99', '0123456789', '0-9'],
    ['bytes=8-99999999999999999999', '89', '8-9'],
    ['BYTES=9-9', '9', '9-9'],
  ])('are returned in part for the range %s', async (range, content, expectedRange) => {
    await files.put('ten', '0123456789');
    const { status, text: body, headers } = await files.get('ten', { range });
    expect([status, body]).toEqual([206, content]);
    expect(headers).toMatchObject({ 'content-range': `bytes ${expectedRange}/10`, 'content-length': String(content.length) });
  });

  it('can be read to the end if the read started before they were replaced or deleted', async () => {
    const old = 'o'.repeat(10_000_000);
    await files.put('x', old);
    const reading = await fetch(`${files.url}${files.base}/x`, { headers: key });
    await files.put('x', 'n'.repeat(10_000_000));
    const secondReading = await fetch(`${files.url}${files.base}/x`, { headers: key });
    await files.send('DELETE', 'x');
    expect((await reading.text()) === old).toBe(true);
    expect(new Set(await secondReading.text())).toEqual(new Set('n'));
  });

  it('are looked up again if their content is replaced before it is read', async () => {
    await files.put('x', 'old');
    const [old] = files.index.all;
    await files.put('x', 'new');
    const find = vi.spyOn(files.index, 'find').mockResolvedValueOnce(old);
    expect((await files.get('x')).text).toBe('new');
    expect(find).toHaveBeenCalledTimes(2);
    find.mockRestore();
  });

  it('leave no content if the upload is interrupted', async () => {
    await files.put('x', 'before');
    const writing = openRequest(`${files.url}${files.base}/x`, {
      method: 'PUT',
      headers: { ...key, 'content-length': 11_000_000 },
    });
    writing.on('error', () => undefined);
    writing.write(randomBytes(8_000_000));
    await vi.waitUntil(async () => (await store.names()).length === 2, { interval: 10, timeout: 10_000 });
    writing.destroy();
    await vi.waitUntil(async () => (await store.names()).length === 1, { interval: 10, timeout: 10_000 });
    expect((await files.get('x')).text).toBe('before');
  });

  it('are not visible before they are complete', async () => {
    const writing = openRequest(`${files.url}${files.base}/x`, { method: 'PUT', headers: key });
    const responseText = new Promise<string>((resolve) => writing.on('response', (response) => resolve(text(response))));
    writing.write('half');
    await vi.waitUntil(async () => kind === 's3' || (await store.names()).length === 1, { interval: 10 });
    expect((await files.get('x')).status).toBe(404);
    writing.end(' and half');
    expect(JSON.parse(await responseText)).toMatchObject({ contentLength: 13 });
    expect((await files.get('x')).text).toBe('half and half');
  });

  it('are created once if several writers use If-None-Match: * concurrently', async () => {
    const puts = await Promise.all(
      Array.from({ length: 8 }, (_, index) => files.put('x', `writer ${index}`, { 'if-none-match': '*' })),
    );
    expect(puts.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
    const winner = puts.findIndex(({ status }) => status === 200);
    expect((await files.get('x')).text).toBe(`writer ${winner}`);
    expect(await store.names()).toHaveLength(1);
  });

  it('are rejected if they are too large, with or without a content length', async () => {
    const withLength = await files.put('x', Buffer.alloc(12_000_001));
    expect([withLength.status, withLength.error.code]).toEqual([413, 'payload_too_large']);
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)) });
    const withoutLength = await fetch(`${files.url}${files.base}/x`, { method: 'PUT', headers: key, body, duplex: 'half' });
    expect(withoutLength.status).toBe(413);
    expect(await withoutLength.text()).toContain('12000000');
    expect((await files.get('x')).status).toBe(404);
  });

  it('are rejected if they exceed the quota of the bucket, until it has enough free bytes', async () => {
    for (const path of ['x', 'y']) expect((await files.put(path, Buffer.alloc(8_000_000))).status).toBe(200);
    const rejected = await files.put('z', Buffer.alloc(4_000_001));
    expect([rejected.status, rejected.error.code]).toEqual([413, 'payload_too_large']);
    expect(rejected.error.message).toMatch(/16000000 of at most 20000000 bytes/);
    expect((await files.put('z', Buffer.alloc(4_000_000))).status).toBe(200);
    expect((await files.put('x', Buffer.alloc(7_000_000))).status).toBe(200);
    await files.send('DELETE', 'y');
    expect((await files.put('y', Buffer.alloc(9_000_000))).status).toBe(200);
  });
});

describe.each(storeKinds)('an unavailable %s store', (kind) => {
  it('makes requests for contents return 503 without details, while deletions succeed', async () => {
    await using store = await openStore(kind);
    await using files = await startFiles({ blobs: store.blobs });
    await files.put('x', 'one');
    await store.breakDown();
    const putResponse = await files.put('y', 'two');
    expect([putResponse.status, putResponse.error.code, putResponse.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    expect(putResponse.text).not.toMatch(/canary|127\.0\.0\.1|ENOENT|ECONN|tmp/);
    expect((await files.get('y')).status).toBe(404);
    if (kind === 's3') expect((await files.get('x')).error.code).toBe('overloaded');
    expect((await files.send('DELETE', 'x')).status).toBe(204);
  });
});
