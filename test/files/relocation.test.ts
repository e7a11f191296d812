import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { type FreshDatabase, freshPostgres, freshSqlite } from '#test/sql-engines.ts';
import { createApplicationStore, createFileIndex } from '#test/sql-stores.ts';
import { callerKey } from '#test/start-service.ts';
import { quickApp } from '../applications/support.ts';
import { type FileService, openStore, startFiles, type storeKinds, type TestStore } from './support.ts';

const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
const engines = { SQLite: freshSqlite, PostgreSQL: freshPostgres };

interface Rig extends AsyncDisposable {
  readonly files: FileService;
  readonly store: TestStore;
  readonly auditEntries: readonly string[];
}

/** Starts a service with all records in a database, and with contents on disk or in S3. */
async function openRig(kind: (typeof storeKinds)[number], createDatabase: () => Promise<FreshDatabase>): Promise<Rig> {
  const store = await openStore(kind);
  const freshDatabase = await createDatabase();
  const { database, close } = await freshDatabase.open();
  const auditEntries: string[] = [];
  const applications = createApplicationStore(database);
  const index = createFileIndex(database);
  const limits = { maxBucketBytes: 1000 };
  const recordAudit = ({ action, object }: { action: string; object: string | undefined }) =>
    void auditEntries.push(`${action} ${object}`);
  const files = await startFiles({ blobs: store.blobs, index }, { keys, files: limits }, { applications, recordAudit });
  return {
    files,
    store,
    auditEntries,
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      await close();
      await freshDatabase[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ['SQLite', 'disk'],
  ['PostgreSQL', 's3'],
] as const)('relocation with %s and contents in %s:', (engine, kind) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await openRig(kind, engines[engine]);
  });

  afterAll(() => rig[Symbol.asyncDispose]());

  beforeEach(async () => {
    const { items } = (await rig.files.metadata('?recursive=true&limit=1000')).json as { items: { url: string }[] };
    for (const { url } of items) await send('DELETE', `/v1/${url}`);
    await rig.files.put('source', 'the source');
    await rig.files.put('taken', 'the old content');
  });

  function send(method: string, path: string, body?: unknown, key = callerKey): Promise<TestResponse> {
    const headers = { 'api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return sendRequest(rig.files.url, { method, path, headers, body });
  }

  const toUrl = (path: string, kind = 'files'): string => `${kind}/${rig.files.bucket}/${path}`;
  const relocate = (
    operation: 'move' | 'copy',
    sourceUrl: string,
    destinationUrl: string,
    fields: object = {},
  ): Promise<TestResponse> => send('POST', `/v1/ops/resource/${operation}`, { sourceUrl, destinationUrl, ...fields });
  const contents = (...paths: string[]): Promise<(string | number)[]> =>
    Promise.all(
      paths.map(async (path) => {
        const { status, text } = await rig.files.get(path);
        return status === 200 ? text : status;
      }),
    );

  describe('a move', () => {
    it('changes only the path of a file', async () => {
      const before = (await rig.files.metadata('source')).json as { createdAt: number };
      const { status, text } = await relocate('move', toUrl('source'), toUrl('far/away%20(1)'));
      expect([status, text]).toEqual([200, '']);
      expect(await contents('source', 'far/away%20(1)')).toEqual([404, 'the source']);
      const movedEntry = (await rig.files.metadata('far/away%20(1)')).json;
      expect(movedEntry).toMatchObject({ name: 'away (1)', createdAt: before.createdAt, contentLength: 10 });
      expect(await rig.store.names()).toHaveLength(2);
    });

    it('replaces a file only with overwrite, and deletes the old content', async () => {
      const { status, error } = await relocate('move', toUrl('source'), toUrl('taken'), { overwrite: false });
      expect([status, error.code, error.param]).toEqual([400, 'invalid_request', 'destinationUrl']);
      expect(await contents('source', 'taken')).toEqual(['the source', 'the old content']);
      expect((await relocate('move', toUrl('source'), toUrl('taken'), { overwrite: true })).status).toBe(200);
      expect(await contents('source', 'taken')).toEqual([404, 'the source']);
      expect(await rig.store.names()).toHaveLength(1);
    });

    it('of two files to one free path succeeds once', async () => {
      await rig.files.put('second', 'the second');
      const answers = await Promise.all([
        relocate('move', toUrl('source'), toUrl('free')),
        relocate('move', toUrl('second'), toUrl('free')),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const isFirstMoved = answers[0]?.status === 200;
      expect(await contents('source', 'second', 'free')).toEqual(
        isFirstMoved ? [404, 'the second', 'the source'] : ['the source', 404, 'the second'],
      );
    });

    it('of one file to two paths succeeds once', async () => {
      const answers = await Promise.all(['one', 'two'].map((path) => relocate('move', toUrl('source'), toUrl(path))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect((await contents('source', 'one', 'two')).filter((content) => content === 'the source')).toHaveLength(1);
    });

    it('does not block a concurrent move in the other direction', async () => {
      const moveBack = () => relocate('move', toUrl('taken'), toUrl('source'), { overwrite: true });
      const moveThere = () => relocate('move', toUrl('source'), toUrl('taken'), { overwrite: true });
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? moveThere() : moveBack())));
      expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
      expect((await contents('source', 'taken')).filter((content) => content !== 404)).toHaveLength(1);
    });

    it('does not change the used bytes of the bucket', async () => {
      await rig.files.put('large', 'x'.repeat(900));
      expect((await relocate('move', toUrl('large'), toUrl('larger'))).status).toBe(200);
      expect((await rig.files.put('more', 'y'.repeat(100))).status).toBe(413);
      expect((await relocate('move', toUrl('larger'), toUrl('taken'), { overwrite: true })).status).toBe(200);
      expect((await rig.files.put('more', 'y'.repeat(90))).status).toBe(200);
      expect((await rig.files.put('yet', 'y')).status).toBe(413);
    });
  });

  describe('a copy', () => {
    it('stores the same content again', async () => {
      await rig.files.put('typed', 'a,b', { 'content-type': 'text/x-own' });
      const { status, text } = await relocate('copy', toUrl('typed'), toUrl('a/copy'));
      expect([status, text]).toEqual([200, '']);
      expect((await rig.files.metadata('a/copy')).json).toMatchObject({ contentType: 'text/x-own', contentLength: 3 });
      expect((await send('DELETE', `/v1/${toUrl('typed')}`)).status).toBe(204);
      expect(await contents('typed', 'a/copy')).toEqual([404, 'a,b']);
    });

    it('replaces a file only with overwrite', async () => {
      const { status, error } = await relocate('copy', toUrl('source'), toUrl('taken'));
      expect([status, error.param]).toEqual([400, 'destinationUrl']);
      expect(await contents('taken')).toEqual(['the old content']);
      expect((await relocate('copy', toUrl('source'), toUrl('taken'), { overwrite: true })).status).toBe(200);
      expect(await contents('source', 'taken')).toEqual(['the source', 'the source']);
      expect(await rig.store.names()).toHaveLength(2);
    });

    it('of two files to one free path succeeds once', async () => {
      const answers = await Promise.all(['source', 'taken'].map((path) => relocate('copy', toUrl(path), toUrl('free'))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it('is rejected beyond the quota of the bucket, and leaves no content', async () => {
      await rig.files.put('large', 'x'.repeat(900));
      expect((await relocate('copy', toUrl('large'), toUrl('twice'))).error.code).toBe('payload_too_large');
      expect(await contents('twice')).toEqual([404]);
    });
  });

  it.each(['move', 'copy'] as const)('%s works for prompts and conversations as for files', async (operation) => {
    const record = { id: 'i', folderId: 'f', name: 'n', content: 'c', messages: [] };
    for (const kind of ['prompts', 'conversations']) {
      await send('PUT', `/v1/${toUrl('demo__First', kind)}`, record);
      const { status } = await relocate(operation, toUrl('demo__First', kind), toUrl('in/demo__Second%20one', kind), {
        overwrite: true,
      });
      expect(status).toBe(200);
      expect((await send('GET', `/v1/${toUrl('in/demo__Second%20one', kind)}`)).json).toEqual(record);
      expect((await send('GET', `/v1/${toUrl('demo__First', kind)}`)).status).toBe(operation === 'move' ? 404 : 200);
    }
  });

  describe('an application with move or copy', () => {
    const entry = quickApp({ model: 'm' }, { displayName: 'First', userRoles: ['staff'] });
    const base = '/v1/applications';

    it('is moved with its versions, its settings, and its roles', async () => {
      await send('PUT', `${base}/${rig.files.bucket}/made`, entry);
      await send('PUT', `${base}/${rig.files.bucket}/made`, { ...entry, displayName: 'Second' });
      expect((await relocate('move', toUrl('made', 'applications'), toUrl('in/moved', 'applications'))).status).toBe(200);
      expect((await send('GET', `${base}/${rig.files.bucket}/made`)).status).toBe(404);
      const movedEntry = await send('GET', `${base}/${rig.files.bucket}/in/moved`);
      expect(movedEntry.json).toMatchObject({
        id: toUrl('in/moved', 'applications'),
        displayName: 'Second',
        userRoles: ['staff'],
      });
      const firstVersion = await send('GET', `/v1/versions/applications/${rig.files.bucket}/in/moved?version=1`);
      expect(firstVersion.json).toMatchObject({ displayName: 'First', version: 1 });
      const list = (await send('GET', `/v1/metadata/applications/${rig.files.bucket}/?recursive=true`)).json;
      expect(list).toMatchObject({
        items: [{ name: 'moved', parentPath: 'in', resourceType: 'APPLICATION', nodeType: 'ITEM' }],
      });
      expect(rig.auditEntries.slice(-2)).toEqual([
        `application.saved ${toUrl('in/moved', 'applications')}`,
        `application.deleted ${toUrl('made', 'applications')}`,
      ]);
      expect((await relocate('move', toUrl('in/moved', 'applications'), toUrl('made', 'applications'))).status).toBe(200);
      expect((await send('GET', `${base}/${rig.files.bucket}/made`)).json).toMatchObject({ displayName: 'Second' });
    });

    it('replaces another application only with overwrite', async () => {
      await send('PUT', `${base}/${rig.files.bucket}/made`, entry);
      await send('PUT', `${base}/${rig.files.bucket}/other`, { ...entry, displayName: 'Other' });
      for (const operation of ['move', 'copy'] as const) {
        const { status, error } = await relocate(operation, toUrl('made', 'applications'), toUrl('other', 'applications'));
        expect([status, error.param]).toEqual([400, 'destinationUrl']);
      }
      expect((await send('GET', `${base}/${rig.files.bucket}/other`)).json).toMatchObject({ displayName: 'Other' });
      expect(
        (await relocate('copy', toUrl('made', 'applications'), toUrl('other', 'applications'), { overwrite: true })).status,
      ).toBe(200);
      expect(
        (await relocate('move', toUrl('made', 'applications'), toUrl('other', 'applications'), { overwrite: true })).status,
      ).toBe(200);
      expect((await send('GET', `${base}/${rig.files.bucket}/other`)).json).toMatchObject({ displayName: 'First' });
      expect((await send('GET', `${base}/${rig.files.bucket}/made`)).status).toBe(404);
    });

    it('returns 400 if it does not exist, and its metadata returns 404', async () => {
      const { status, error } = await relocate('move', toUrl('none', 'applications'), toUrl('x', 'applications'));
      expect([status, error.param]).toEqual([400, 'sourceUrl']);
      expect((await send('GET', `/v1/metadata/${toUrl('none', 'applications')}`)).error.code).toBe('deployment_not_found');
    });
  });

  describe.each(['move', 'copy'] as const)('a %s', (operation) => {
    it.each([
      ['without a source', { destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['without a destination', { sourceUrl: 'files/b/x' }, 'destinationUrl'],
      ['with null as a URL', { sourceUrl: null, destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['with a number as a URL', { sourceUrl: 'files/b/x', destinationUrl: 1 }, 'destinationUrl'],
      ['with a string for overwrite', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/y', overwrite: 'yes' }, 'overwrite'],
      ['of an unknown kind', { sourceUrl: 'pictures/b/x', destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['of an API path', { sourceUrl: '/v1/files/b/x', destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['to another kind', { sourceUrl: 'files/b/x', destinationUrl: 'prompts/b/x' }, 'destinationUrl'],
      ['to the same path in another encoding', { sourceUrl: 'files/b/a%62', destinationUrl: 'files/b/%61b' }, 'destinationUrl'],
      ['of a folder', { sourceUrl: 'files/b/x/', destinationUrl: 'files/b/y' }, 'sourceUrl'],
      ['to a folder', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/y/' }, 'destinationUrl'],
      ['of a bucket', { sourceUrl: 'files/b', destinationUrl: 'files/c' }, 'sourceUrl'],
      ['with a NUL byte in a URL', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/a\0' }, 'destinationUrl'],
      ['with an encoded NUL byte in a URL', { sourceUrl: 'files/b/%00', destinationUrl: 'files/b/a' }, 'sourceUrl'],
      ['with dot segments', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/../c/x' }, 'destinationUrl'],
      [
        'to a path that is too long',
        { sourceUrl: 'prompts/b/x', destinationUrl: `prompts/b/${'x'.repeat(901)}` },
        'destinationUrl',
      ],
      [
        'with a duplicate field',
        '{"sourceUrl": "files/b/x", "sourceUrl": "files/b/y", "destinationUrl": "files/b/z"}',
        'sourceUrl',
      ],
    ])('%s returns 400', async (_, body, param) => {
      const { status, error } = await send('POST', `/v1/ops/resource/${operation}`, body);
      expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
    });

    it('returns 400 if the source does not exist', async () => {
      const { status, error } = await relocate(operation, toUrl('none'), toUrl('taken'), { overwrite: true });
      expect([status, error.param]).toEqual([400, 'sourceUrl']);
      expect(await contents('taken')).toEqual(['the old content']);
    });

    it('returns 403 if the source or the destination is the bucket of another user, whether or not the file exists', async () => {
      const otherBucket = ((await send('GET', '/v1/bucket', undefined, 'other-key')).json as { bucket: string }).bucket;
      await send('PUT', `/v1/prompts/${otherBucket}/theirs`, { id: 'i', folderId: 'f', name: 'n', content: 'c' }, 'other-key');
      for (const [from, to] of [
        [`prompts/${otherBucket}/theirs`, toUrl('stolen', 'prompts')],
        [`prompts/${otherBucket}/none`, toUrl('stolen', 'prompts')],
        [toUrl('source'), `files/${otherBucket}/planted`],
        [toUrl('source'), 'files/public/planted'],
        [`applications/${otherBucket}/theirs`, toUrl('stolen', 'applications')],
        [toUrl('mine', 'applications'), `applications/${otherBucket}/planted`],
      ] as const) {
        const { status, error } = await relocate(operation, from, to, { overwrite: true });
        expect([from, to, status, error.code]).toEqual([from, to, 403, 'access_denied']);
      }
      expect(await contents('source')).toEqual(['the source']);
    });
  });
});
