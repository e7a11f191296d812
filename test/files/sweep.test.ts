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

/** Deletes all contents in S3 and the record of the database that owns them. */
async function emptyS3(): Promise<void> {
  for (const name of [...(await s3.names()).objects, 'parley-database']) await blobs.delete(name);
}

/** Runs one sweep with a clock that is ahead by this time. Returns the log messages. */
async function sweepOnce(database: SqlDatabase, laterMs: number): Promise<readonly string[]> {
  const messages: string[] = [];
  const clock = { ...systemClock, epochMs: () => Date.now() + laterMs, sleep: async () => sweeper.stop() };
  const log = (message: string): void => void messages.push(message);
  const index = new SqlFileIndex(database);
  const leases = new SqlPassageIndex(database);
  const parts = { store: blobs, index, leases, isShared: true, ownsContents: async () => true };
  const sweeper = openSweeper(parts, { clock, note: log, reportError: log });
  await sweeper.run();
  return messages;
}

describeOnEach('nodes that share an S3 location', (nodes) => {
  it('delete old unused contents once a day, on one node, after they have owned the location for a day', async () => {
    await emptyS3();
    const files = await startFiles({ blobs, index: new SqlFileIndex(nodes.database) });
    expect((await files.put('kept', 'content')).status).toBe(200);
    await files[Symbol.asyncDispose]();
    const orphan = randomUUID();
    for (const name of [orphan, 'notes.txt', `${orphan}.part`, `deeper/${orphan}`]) await s3.put(name, name);
    const remaining = (await s3.names()).objects.filter((name) => name !== orphan);
    expect(remaining).toHaveLength(4);

    expect(await sweepOnce(nodes.database, 0)).toEqual([]);
    expect(await sweepOnce(nodes.otherDatabase, dayMs - hourMs)).toEqual([]);
    expect((await s3.names()).objects).toContain(orphan);
    const messages = await Promise.all(
      [nodes.database, nodes.otherDatabase].map((database) => sweepOnce(database, dayMs + hourMs)),
    );
    expect(messages.flat()).toEqual(['deleted 1 unused file contents']);
    expect((await s3.names()).objects).toEqual(remaining);

    await s3.put(orphan, '2');
    expect(await sweepOnce(nodes.otherDatabase, dayMs + 20 * hourMs)).toEqual([]);
    expect(await sweepOnce(nodes.otherDatabase, 2 * dayMs + hourMs)).toEqual(['deleted 1 unused file contents']);
    expect((await s3.names()).objects).toEqual(remaining);
  });

  it('retain the files of another database, and log a message', async () => {
    await emptyS3();
    await using sqlite = await freshSqlite();
    await using connection = await sqlite.open();
    const { database } = connection;
    const foreignName = randomUUID();
    await s3.put(foreignName, 'x');
    expect(await sweepOnce(database, 0)).toEqual([]);
    for (const laterMs of [0, 2 * dayMs])
      expect(await sweepOnce(nodes.database, laterMs)).toEqual([expect.stringContaining('file contents of another database')]);
    expect((await s3.names()).objects).toEqual([foreignName]);
  });
});

describe('a sweep', () => {
  async function runWithIndex(work: (index: SqlFileIndex) => Promise<void>): Promise<void> {
    await emptyS3();
    await using sqlite = await freshSqlite();
    const { database, close } = await sqlite.open();
    await work(new SqlFileIndex(database)).finally(close);
  }

  const createLimits = () => ({ nowMs: Date.now(), beforeMs: Date.now() + dayMs, signal: new AbortController().signal });

  it('reads contents page by page, without those that are too new', () =>
    runWithIndex(async (index) => {
      const names = Array.from({ length: 502 }, () => randomUUID());
      for (let index = 0; index < names.length; index += 50)
        await Promise.all(names.slice(index, index + 50).map((name) => s3.put(name, name)));
      const unused = vi.spyOn(index, 'findUnused').mockImplementation(async (candidates) => candidates.slice(0, 2));
      expect(await sweepContents({ store: blobs, index, ...createLimits(), beforeMs: Date.now() - hourMs })).toBe(0);
      expect(unused).not.toHaveBeenCalled();
      expect(await sweepContents({ store: blobs, index, ...createLimits() })).toBe(4);
      expect(unused.mock.calls.map(([candidates]) => candidates.length)).toEqual([500, 2]);
      expect((await s3.names()).objects).toHaveLength(498);
    }));

  it('does not delete a content during its upload, even if it is old', () =>
    runWithIndex(async (index) => {
      await using files = await startFiles({ blobs, index });
      const gate = Promise.withResolvers<void>();
      const put = index.put.bind(index);
      const isWritten = new Promise<void>((resolve) => {
        vi.spyOn(index, 'put').mockImplementationOnce(async (...args) => {
          resolve();
          await gate.promise;
          return put(...args);
        });
      });
      const writing = files.put('x', 'content');
      await isWritten;
      expect((await s3.names()).objects).toHaveLength(1);
      expect(await sweepContents({ store: blobs, index, ...createLimits() })).toBe(0);
      gate.resolve();
      expect((await writing).status).toBe(200);
      expect(await sweepContents({ store: blobs, index, ...createLimits() })).toBe(0);
      expect((await files.get('x')).text).toBe('content');
    }));

  it('stops between two deletions if the node stops', () =>
    runWithIndex(async (index) => {
      for (let count = 0; count < 3; count += 1) await s3.put(randomUUID(), 'x');
      const stop = new AbortController();
      const store = {
        listWrittenBefore: (atMs: number) => blobs.listWrittenBefore(atMs),
        delete: async (name: string) => {
          await blobs.delete(name);
          stop.abort(new Error('stopped'));
        },
      };
      await expect(sweepContents({ store, index, ...createLimits(), signal: stop.signal })).rejects.toThrow('stopped');
      expect((await s3.names()).objects).toHaveLength(2);
    }));

  it('starts automatically in a node with S3', async () => {
    await emptyS3();
    await using folder = await openFolder();
    const noFlags = { config: undefined, host: undefined, port: undefined, tlsCert: undefined, tlsKey: undefined };
    const environment = { PARLEY_FILES_URL: s3.filesUrl, PARLEY_SECRET: 'secret' };
    const errors: string[] = [];
    const reportError = (message: string): void => void errors.push(message);
    const stores = await openStores(readSettings({ ...noFlags, data: folder.path }, environment), {
      clock: systemClock,
      caches: new Caches(),
      note: reportError,
      reportError,
    });
    await vi.waitUntil(async () => (await blobs.read('parley-database', undefined))?.resume() !== undefined, { timeout: 10_000 });
    await stores.close();
    expect(errors).toEqual([]);
  });
});
