import { type ClientRequest, request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { describeOnEach } from '#test/sql-engines.ts';
import { createFileIndex } from '#test/sql-stores.ts';
import { callerKey } from '#test/start-service.ts';
import { type FileService, openStore, startFiles, type TestStore } from './support.ts';

const maxBucketBytes = 100_000;
const uploadBytes = 30_000;

interface Upload {
  readonly request: ClientRequest;
  /** Response status. 0 if the connection fails. */
  readonly status: Promise<number>;
}

describeOnEach('concurrent uploads on two nodes', (database) => {
  let store: TestStore;
  let nodes: readonly FileService[];

  beforeEach(async () => {
    store = await openStore('disk');
    const start = (connection: typeof database.database) =>
      startFiles({ blobs: store.blobs, index: createFileIndex(connection) }, { files: { maxBucketBytes } });
    nodes = [await start(database.database), await start(database.otherDatabase)];
  });

  afterEach(async () => {
    for (const { name } of await listStored()) await getNode(0).send('DELETE', name);
    expect(await store.names()).toEqual([]);
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  function getNode(index: number): FileService {
    return nodes[index % nodes.length] as FileService;
  }

  /** Starts an upload and sends half of it. */
  function startUpload(index: number, headers: Readonly<Record<string, number>> = { 'content-length': uploadBytes }): Upload {
    const { url, base } = getNode(index);
    const request = openRequest(`${url}${base}/${index}.bin`, { method: 'PUT', headers: { 'api-key': callerKey, ...headers } });
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

  async function listStored(): Promise<readonly { readonly name: string; readonly contentLength: number }[]> {
    const { json } = await getNode(0).metadata('?recursive=true');
    return (json as { items: { name: string; contentLength: number }[] }).items;
  }

  async function countUsedBytes(): Promise<number> {
    return (await listStored()).reduce((sum, { contentLength }) => sum + contentLength, 0);
  }

  /** Returns whether at least this many bytes are used or reserved. The probe itself reserves 0 bytes. */
  async function isUsed(bytes: number): Promise<boolean> {
    const index = createFileIndex(database.database);
    const smallReservation = {
      bucket: getNode(0).bucket,
      path: 'probe',
      blob: 'probe',
      bytes: 1,
      nowMs: Date.now(),
      untilMs: Date.now(),
    };
    return (await index.reserve(smallReservation, bytes)) !== 'reserved';
  }

  it('are admitted before their bytes arrive if the quota covers them completely', async () => {
    const uploads = Array.from({ length: 10 }, (_, index) => startUpload(index));
    const rejectedStatuses: number[] = [];
    for (const { status } of uploads) void status.then((code) => code === 413 && rejectedStatuses.push(code));
    await vi.waitUntil(() => rejectedStatuses.length === 7, { timeout: 10_000 });
    for (const { request } of uploads) request.end(Buffer.alloc(uploadBytes / 2));
    const statuses = await Promise.all(uploads.map(({ status }) => status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(await countUsedBytes()).toBe(3 * uploadBytes);
  });

  it('release their reservation if they end early', async () => {
    const uploads = [0, 1, 2].map((index) => startUpload(index));
    await vi.waitUntil(async () => (await store.names()).length === 3, { timeout: 10_000 });
    const rejected = await getNode(1).put('late.bin', Buffer.alloc(uploadBytes));
    expect([rejected.status, rejected.error.code]).toEqual([413, 'payload_too_large']);
    expect(rejected.error.message).toContain('90000 of at most 100000 bytes, including uploads in progress');
    for (const { request } of uploads.slice(0, 2)) request.destroy();
    await vi.waitUntil(async () => (await getNode(1).put('late.bin', Buffer.alloc(uploadBytes))).status === 200, {
      timeout: 10_000,
    });
    uploads[2]?.request.end(Buffer.alloc(uploadBytes / 2));
    expect(await uploads[2]?.status).toBe(200);
    expect(await countUsedBytes()).toBe(2 * uploadBytes);
  });

  it('without a content length reserve quota while they arrive', async () => {
    const upload = startUpload(0, {});
    await vi.waitUntil(() => isUsed(uploadBytes / 2), { timeout: 10_000 });
    expect((await getNode(1).put('known.bin', Buffer.alloc(90_000))).status).toBe(413);
    expect((await getNode(1).put('known.bin', Buffer.alloc(80_000))).status).toBe(200);
    upload.request.write(Buffer.alloc(uploadBytes / 2));
    upload.request.end();
    expect(await upload.status).toBe(413);
    expect(await countUsedBytes()).toBe(80_000);
  });
});
