import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSweeper, sweepContents } from '#app/node/open-contents.ts';
import { openStores } from '#app/node/open-stores.ts';
import { readSettings } from '#app/settings.ts';
import { Caches } from '#base/cache/bounded-cache.ts';
import { systemClock } from '#base/time/clock.ts';
import { toS3Address } from '#stores/files/s3-address.ts';
import { S3BlobStore } from '#stores/files/s3-blob-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { describeOnEach, freshSqlite } from '#test/sql-engines.ts';
import { startS3, type TestS3 } from '#test/start-s3.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { startFiles } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let s3: TestS3;
let blobs: S3BlobStore;

beforeAll(async () => {
  s3 = await startS3();
  blobs = new S3BlobStore(toS3Address(s3.filesUrl, {}));
});
afterAll(async () => {
  blobs.close();
  await s3[Symbol.asyncDispose]();
});

/** Nothing lies in S3 any more, and it is nobody's. */
async function empty(): Promise<void> {
  for (const name of [...(await s3.names()).objects, 'parley-database']) await blobs.delete(name);
}

/** What a node does once when its clock shows a time that long from now; gives what it says. */
async function sweepOnce(database: SqlDatabase, laterMs: number): Promise<readonly string[]> {
  const said: string[] = [];
  const clock = { ...systemClock, epochMs: () => Date.now() + laterMs, sleep: async () => sweeper.stop() };
  const say = (message: string): void => void said.push(message);
  const index = new SqlFileIndex(database);
  const leases = new SqlPassageIndex(database);
  const parts = { store: blobs, index, leases, isShared: true, isPlace: async () => true };
  const sweeper = openSweeper(parts, { clock, caches: new Caches(), newKey: () => '', note: say, reportError: say });
  await sweeper.run();
  return said;
}

describeOnEach('nodes that share a place in S3', (nodes) => {
  it('delete old contents that no file uses, one of them a day, once the place is theirs for a day', async () => {
    await empty();
    const files = await startFiles({ blobs, index: new SqlFileIndex(nodes.database) });
    expect((await files.put('kept', 'content')).status).toBe(200);
    await files[Symbol.asyncDispose]();
    const orphan = randomUUID();
    for (const name of [orphan, 'notes.txt', `${orphan}.part`, `deeper/${orphan}`]) await s3.put(name, name);
    const rest = (await s3.names()).objects.filter((name) => name !== orphan);
    expect(rest).toHaveLength(4);

    expect(await sweepOnce(nodes.database, 0)).toEqual([]);
    expect(await sweepOnce(nodes.otherDatabase, dayMs - hourMs)).toEqual([]);
    expect((await s3.names()).objects).toContain(orphan);
    const said = await Promise.all([nodes.database, nodes.otherDatabase].map((each) => sweepOnce(each, dayMs + hourMs)));
    expect(said.flat()).toEqual(['deleted 1 unused file contents']);
    expect((await s3.names()).objects).toEqual(rest);

    await s3.put(orphan, '2');
    expect(await sweepOnce(nodes.otherDatabase, dayMs + 20 * hourMs)).toEqual([]);
    expect(await sweepOnce(nodes.otherDatabase, 2 * dayMs + hourMs)).toEqual(['deleted 1 unused file contents']);
    expect((await s3.names()).objects).toEqual(rest);
  });

  it('keep the files of another database and log that', async () => {
    await empty();
    await using fresh = await freshSqlite();
    await using opened = await fresh.open();
    const { database } = opened;
    const foreign = randomUUID();
    await s3.put(foreign, 'x');
    expect(await sweepOnce(database, 0)).toEqual([]);
    for (const laterMs of [0, 2 * dayMs])
      expect(await sweepOnce(nodes.database, laterMs)).toEqual([expect.stringContaining('files of another database')]);
    expect((await s3.names()).objects).toEqual([foreign]);
  });
});

describe('a sweep', () => {
  async function withIndex(work: (index: SqlFileIndex) => Promise<void>): Promise<void> {
    await empty();
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open();
    await work(new SqlFileIndex(database)).finally(close);
  }

  const soon = () => ({ nowMs: Date.now(), beforeMs: Date.now() + dayMs, signal: new AbortController().signal });

  it('reads contents page by page, without those that are too young', () =>
    withIndex(async (index) => {
      const names = Array.from({ length: 502 }, () => randomUUID());
      for (let at = 0; at < names.length; at += 50) await Promise.all(names.slice(at, at + 50).map((name) => s3.put(name, name)));
      const unused = vi.spyOn(index, 'unused').mockImplementation(async (asked) => asked.slice(0, 2));
      expect(await sweepContents({ store: blobs, index, ...soon(), beforeMs: Date.now() - hourMs })).toBe(0);
      expect(unused).not.toHaveBeenCalled();
      expect(await sweepContents({ store: blobs, index, ...soon() })).toBe(4);
      expect(unused.mock.calls.map(([asked]) => asked.length)).toEqual([500, 2]);
      expect((await s3.names()).objects).toHaveLength(498);
    }));

  it('leaves a content that is being stored, however old it seems', () =>
    withIndex(async (index) => {
      await using files = await startFiles({ blobs, index });
      const gate = Promise.withResolvers<void>();
      const put = index.put.bind(index);
      const isWritten = new Promise<void>((resolve) => {
        vi.spyOn(index, 'put').mockImplementationOnce(async (...given) => {
          resolve();
          await gate.promise;
          return put(...given);
        });
      });
      const writing = files.put('x', 'content');
      await isWritten;
      expect((await s3.names()).objects).toHaveLength(1);
      expect(await sweepContents({ store: blobs, index, ...soon() })).toBe(0);
      gate.resolve();
      expect((await writing).status).toBe(200);
      expect(await sweepContents({ store: blobs, index, ...soon() })).toBe(0);
      expect((await files.get('x')).text).toBe('content');
    }));

  it('ends between two contents once the node stops', () =>
    withIndex(async (index) => {
      for (let count = 0; count < 3; count += 1) await s3.put(randomUUID(), 'x');
      const stop = new AbortController();
      const store = {
        writtenBefore: (atMs: number) => blobs.writtenBefore(atMs),
        delete: async (name: string) => {
          await blobs.delete(name);
          stop.abort(new Error('stopped'));
        },
      };
      await expect(sweepContents({ store, index, ...soon(), signal: stop.signal })).rejects.toThrow('stopped');
      expect((await s3.names()).objects).toHaveLength(2);
    }));

  it('starts automatically in a node with S3', async () => {
    await empty();
    await using folder = await openFolder();
    const none = { config: undefined, host: undefined, port: undefined, tlsCert: undefined, tlsKey: undefined };
    const environment = { PARLEY_FILES_URL: s3.filesUrl, PARLEY_SECRET: 'secret' };
    const faults: string[] = [];
    const noteFault = (message: string): void => void faults.push(message);
    const stores = await openStores(readSettings({ ...none, data: folder.path }, environment), {
      clock: systemClock,
      caches: new Caches(),
      note: noteFault,
      reportError: noteFault,
    });
    await vi.waitUntil(async () => (await blobs.read('parley-database', undefined))?.resume() !== undefined, { timeout: 10_000 });
    await stores.close();
    expect(faults).toEqual([]);
  });
});
