import { request as openRequest } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { untilStill } from '#test/until-still.ts';
import { openStore, startFiles, type TestStore } from './support.ts';

const headers = { 'api-key': callerKey };
const mebibyte = 1024 ** 2;
const size = 64 * mebibyte;
/** Upper bound of the bytes in sockets and stream buffers. */
const maxBufferedBytes = 24 * mebibyte;

it('a slow reader slows down reads from the store', async () => {
  await using store = await openStore('disk');
  let readLength = 0;
  async function* count(content: Readable): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      readLength += piece.length;
      yield piece;
    }
  }
  const blobs: TestStore['blobs'] = {
    write: (name, bytes) => store.blobs.write(name, bytes),
    delete: (name) => store.blobs.delete(name),
    async read(name, range) {
      const content = await store.blobs.read(name, range);
      return content && Readable.from(count(content));
    },
  };
  await using files = await startFiles({ blobs });
  await files.put('large', Buffer.alloc(size));
  const response = await fetch(`${files.url}${files.base}/large`, { headers });
  await untilStill(() => readLength);
  expect(readLength).toBeLessThan(maxBufferedBytes);
  expect((await response.bytes()).length).toBe(size);
  expect(readLength).toBe(size);
});

it('a slow store slows down the upload', async () => {
  await using store = await openStore('disk');
  const gate = Promise.withResolvers<void>();
  const blobs: TestStore['blobs'] = {
    write: async (name, bytes) => {
      await gate.promise;
      await store.blobs.write(name, bytes);
    },
    delete: (name) => store.blobs.delete(name),
    read: (name, range) => store.blobs.read(name, range),
  };
  await using files = await startFiles({ blobs });
  const writing = openRequest(`${files.url}${files.base}/large`, {
    method: 'PUT',
    headers: { ...headers, 'transfer-encoding': 'chunked' },
    agent: false,
  });
  const responseText = new Promise<string>((resolve, reject) => {
    writing.on('response', (response) => resolve(text(response))).on('error', reject);
  });
  let sentLength = 0;
  const send = (): void => {
    while (sentLength < size && writing.write(Buffer.alloc(mebibyte))) sentLength += mebibyte;
    if (sentLength < size) sentLength += mebibyte;
    else writing.end();
  };
  writing.on('drain', send);
  send();
  await untilStill(() => sentLength);
  expect(sentLength).toBeLessThan(maxBufferedBytes);
  gate.resolve();
  expect(JSON.parse(await responseText)).toMatchObject({ contentLength: sentLength });
});
