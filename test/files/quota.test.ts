import { type ClientRequest, request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { describeOnEach } from '#test/sql-engines.ts';
import { createFileIndex } from '#test/sql-stores.ts';
import { callerKey } from '#test/start-service.ts';
import { type FileService, openStore, startFiles, type TestStore } from './support.ts';

const maxBucketBytes = 100_000;
const uploadBytes = 30_000;

interface Uploading {
  readonly request: ClientRequest;
  /** The status, once it is there. */
  readonly status: Promise<number>;
}

describeOnEach('uploads side by side on two nodes', (database) => {
  let store: TestStore;
  let nodes: readonly FileService[];

  beforeEach(async () => {
    store = await openStore('disk');
    const start = (each: typeof database.database) =>
      startFiles({ blobs: store.blobs, index: createFileIndex(each) }, { files: { maxBucketBytes } });
    nodes = [await start(database.database), await start(database.otherDatabase)];
  });

  afterEach(async () => {
    for (const { name } of await stored()) await nodeOf(0).send('DELETE', name);
    expect(await store.names()).toEqual([]);
    for (const each of nodes) await each[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  function nodeOf(index: number): FileService {
    return nodes[index % nodes.length] as FileService;
  }

  /** Begins an upload and sends half of it. */
  function begin(nth: number, headers: Readonly<Record<string, number>> = { 'content-length': uploadBytes }): Uploading {
    const { url, base } = nodeOf(nth);
    const request = openRequest(`${url}${base}/${nth}.bin`, { method: 'PUT', headers: { 'api-key': callerKey, ...headers } });
    const status = new Promise<number>((resolve) => {
      request.on('error', () => resolve(0));
      request.on(
        'response',
        (response) =>
          void text(response).then(
            () => resolve(response.statusCode ?? 0),
            () => resolve(0),
          ),
      );
    });
    request.write(Buffer.alloc(uploadBytes / 2));
    return { request, status };
  }

  async function stored(): Promise<readonly { readonly name: string; readonly contentLength: number }[]> {
    const { json } = await nodeOf(0).metadata('?recursive=true');
    return (json as { items: { name: string; contentLength: number }[] }).items;
  }

  async function usedBytes(): Promise<number> {
    return (await stored()).reduce((sum, { contentLength }) => sum + contentLength, 0);
  }

  /** Whether so much is taken, of files or for uploads; takes nothing itself. */
  async function isTaken(bytes: number): Promise<boolean> {
    const index = createFileIndex(database.database);
    const nothing = { bucket: nodeOf(0).bucket, path: 'probe', blob: 'probe', bytes: 0, nowMs: Date.now(), untilMs: Date.now() };
    return (await index.reserve(nothing, bytes - 1)) !== 'reserved';
  }

  it('are admitted before their bytes arrive, as far as the quota covers each of them', async () => {
    const uploads = Array.from({ length: 10 }, (_, nth) => begin(nth));
    const refused: number[] = [];
    for (const { status } of uploads) void status.then((told) => told === 413 && refused.push(told));
    await vi.waitUntil(() => refused.length === 7, { timeout: 10_000 });
    for (const { request } of uploads) request.end(Buffer.alloc(uploadBytes / 2));
    const statuses = await Promise.all(uploads.map(({ status }) => status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(await usedBytes()).toBe(3 * uploadBytes);
  });

  it('release the quota if they end early', async () => {
    const uploads = [0, 1, 2].map((nth) => begin(nth));
    await vi.waitUntil(async () => (await store.names()).length === 3, { timeout: 10_000 });
    const refused = await nodeOf(1).put('late.bin', Buffer.alloc(uploadBytes));
    expect([refused.status, refused.error.code]).toEqual([413, 'payload_too_large']);
    expect(refused.error.message).toContain('90000 of at most 100000 bytes, including uploads in progress');
    for (const { request } of uploads.slice(0, 2)) request.destroy();
    await vi.waitUntil(async () => (await nodeOf(1).put('late.bin', Buffer.alloc(uploadBytes))).status === 200, {
      timeout: 10_000,
    });
    uploads[2]?.request.end(Buffer.alloc(uploadBytes / 2));
    expect(await uploads[2]?.status).toBe(200);
    expect(await usedBytes()).toBe(2 * uploadBytes);
  });

  it('without a length reserve quota as they arrive', async () => {
    const unknown = begin(0, {});
    await vi.waitUntil(() => isTaken(uploadBytes / 2), { timeout: 10_000 });
    expect((await nodeOf(1).put('known.bin', Buffer.alloc(90_000))).status).toBe(413);
    expect((await nodeOf(1).put('known.bin', Buffer.alloc(80_000))).status).toBe(200);
    unknown.request.write(Buffer.alloc(uploadBytes / 2));
    unknown.request.end();
    expect(await unknown.status).toBe(413);
    expect(await usedBytes()).toBe(80_000);
  });
});
