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
/** What sockets and streams on the way hold. */
const mostBytes = 24 * mebibyte;

it('a slow reader slows the store', async () => {
  await using store = await openStore('disk');
  let passed = 0;
  async function* count(content: Readable): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      passed += piece.length;
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
  const got = await fetch(`${files.url}${files.base}/large`, { headers });
  await untilStill(() => passed);
  expect(passed).toBeLessThan(mostBytes);
  expect((await got.bytes()).length).toBe(size);
  expect(passed).toBe(size);
});

it('a slow store slows the writer', async () => {
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
  const answered = new Promise<string>((resolve, reject) => {
    writing.on('response', (response) => resolve(text(response))).on('error', reject);
  });
  let sent = 0;
  const send = (): void => {
    while (sent < size && writing.write(Buffer.alloc(mebibyte))) sent += mebibyte;
    if (sent < size) sent += mebibyte;
    else writing.end();
  };
  writing.on('drain', send);
  send();
  await untilStill(() => sent);
  expect(sent).toBeLessThan(mostBytes);
  gate.resolve();
  expect(JSON.parse(await answered)).toMatchObject({ contentLength: sent });
});
