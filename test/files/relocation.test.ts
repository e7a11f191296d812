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
  readonly saved: readonly string[];
}

/** With everything in a database, and contents on a disk or in S3. */
async function openRig(kind: (typeof storeKinds)[number], fresh: () => Promise<FreshDatabase>): Promise<Rig> {
  const store = await openStore(kind);
  const whole = await fresh();
  const { database, close } = await whole.open();
  const saved: string[] = [];
  const applications = createApplicationStore(database);
  const index = createFileIndex(database);
  const limits = { maxBucketBytes: 1000 };
  const recordAudit = ({ action, object }: { action: string; object: string | undefined }) =>
    void saved.push(`${action} ${object}`);
  const files = await startFiles({ blobs: store.blobs, index }, { keys, files: limits }, { applications, recordAudit });
  return {
    files,
    store,
    saved,
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      await close();
      await whole[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ['SQLite', 'disk'],
  ['PostgreSQL', 's3'],
] as const)('on %s, with contents in %s,', (engine, kind) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await openRig(kind, engines[engine]);
  });

  afterAll(() => rig[Symbol.asyncDispose]());

  beforeEach(async () => {
    const { items } = (await rig.files.metadata('?recursive=true&limit=1000')).json as { items: { url: string }[] };
    for (const { url } of items) await send('DELETE', `/v1/${url}`);
    await rig.files.put('source', 'the source');
    await rig.files.put('taken', 'what is there');
  });

  function send(method: string, path: string, body?: unknown, key = callerKey): Promise<TestResponse> {
    const headers = { 'api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return sendRequest(rig.files.url, { method, path, headers, body });
  }

  const at = (path: string, of = 'files'): string => `${of}/${rig.files.bucket}/${path}`;
  const relocate = (how: 'move' | 'copy', sourceUrl: string, destinationUrl: string, more: object = {}): Promise<TestResponse> =>
    send('POST', `/v1/ops/resource/${how}`, { sourceUrl, destinationUrl, ...more });
  const contents = (...paths: string[]): Promise<(string | number)[]> =>
    Promise.all(
      paths.map(async (path) => {
        const { status, text } = await rig.files.get(path);
        return status === 200 ? text : status;
      }),
    );

  describe('a move', () => {
    it('changes the path of a file and nothing else', async () => {
      const before = (await rig.files.metadata('source')).json as { createdAt: number };
      const { status, text } = await relocate('move', at('source'), at('far/away%20(1)'));
      expect([status, text]).toEqual([200, '']);
      expect(await contents('source', 'far/away%20(1)')).toEqual([404, 'the source']);
      const moved = (await rig.files.metadata('far/away%20(1)')).json;
      expect(moved).toMatchObject({ name: 'away (1)', createdAt: before.createdAt, contentLength: 10 });
      expect(await rig.store.names()).toHaveLength(2);
    });

    it('replaces a file only with overwrite, and deletes the old content', async () => {
      const { status, error } = await relocate('move', at('source'), at('taken'), { overwrite: false });
      expect([status, error.code, error.param]).toEqual([400, 'invalid_request', 'destinationUrl']);
      expect(await contents('source', 'taken')).toEqual(['the source', 'what is there']);
      expect((await relocate('move', at('source'), at('taken'), { overwrite: true })).status).toBe(200);
      expect(await contents('source', 'taken')).toEqual([404, 'the source']);
      expect(await rig.store.names()).toHaveLength(1);
    });

    it('of two to one free place happens once', async () => {
      await rig.files.put('second', 'the second');
      const answers = await Promise.all([relocate('move', at('source'), at('free')), relocate('move', at('second'), at('free'))]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const won = answers[0]?.status === 200;
      expect(await contents('source', 'second', 'free')).toEqual(
        won ? [404, 'the second', 'the source'] : ['the source', 404, 'the second'],
      );
    });

    it('of one file to two places happens once', async () => {
      const answers = await Promise.all(['one', 'two'].map((path) => relocate('move', at('source'), at(path))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect((await contents('source', 'one', 'two')).filter((content) => content === 'the source')).toHaveLength(1);
    });

    it('does not block a concurrent move in the other direction', async () => {
      const back = () => relocate('move', at('taken'), at('source'), { overwrite: true });
      const there = () => relocate('move', at('source'), at('taken'), { overwrite: true });
      const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => (nth % 2 === 0 ? there() : back())));
      expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
      expect((await contents('source', 'taken')).filter((content) => content !== 404)).toHaveLength(1);
    });

    it('keeps the bytes of the bucket counted', async () => {
      await rig.files.put('large', 'x'.repeat(900));
      expect((await relocate('move', at('large'), at('larger'))).status).toBe(200);
      expect((await rig.files.put('more', 'y'.repeat(100))).status).toBe(413);
      expect((await relocate('move', at('larger'), at('taken'), { overwrite: true })).status).toBe(200);
      expect((await rig.files.put('more', 'y'.repeat(90))).status).toBe(200);
      expect((await rig.files.put('yet', 'y')).status).toBe(413);
    });
  });

  describe('a copy', () => {
    it('stores the same content once more', async () => {
      await rig.files.put('typed', 'a,b', { 'content-type': 'text/x-own' });
      const { status, text } = await relocate('copy', at('typed'), at('a/copy'));
      expect([status, text]).toEqual([200, '']);
      expect((await rig.files.metadata('a/copy')).json).toMatchObject({ contentType: 'text/x-own', contentLength: 3 });
      expect((await send('DELETE', `/v1/${at('typed')}`)).status).toBe(204);
      expect(await contents('typed', 'a/copy')).toEqual([404, 'a,b']);
    });

    it('over a file happens only with overwrite', async () => {
      const { status, error } = await relocate('copy', at('source'), at('taken'));
      expect([status, error.param]).toEqual([400, 'destinationUrl']);
      expect(await contents('taken')).toEqual(['what is there']);
      expect((await relocate('copy', at('source'), at('taken'), { overwrite: true })).status).toBe(200);
      expect(await contents('source', 'taken')).toEqual(['the source', 'the source']);
      expect(await rig.store.names()).toHaveLength(2);
    });

    it('of two to one free place happens once', async () => {
      const answers = await Promise.all(['source', 'taken'].map((path) => relocate('copy', at(path), at('free'))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    it('is rejected beyond the quota of the bucket, and leaves no content', async () => {
      await rig.files.put('large', 'x'.repeat(900));
      expect((await relocate('copy', at('large'), at('twice'))).error.code).toBe('payload_too_large');
      expect(await contents('twice')).toEqual([404]);
    });
  });

  it.each(['move', 'copy'] as const)('prompts and conversations %s as files do', async (how) => {
    const record = { id: 'i', folderId: 'f', name: 'n', content: 'c', messages: [] };
    for (const kind of ['prompts', 'conversations']) {
      await send('PUT', `/v1/${at('demo__First', kind)}`, record);
      const { status } = await relocate(how, at('demo__First', kind), at('in/demo__Second%20one', kind), { overwrite: true });
      expect(status).toBe(200);
      expect((await send('GET', `/v1/${at('in/demo__Second%20one', kind)}`)).json).toEqual(record);
      expect((await send('GET', `/v1/${at('demo__First', kind)}`)).status).toBe(how === 'move' ? 404 : 200);
    }
  });

  describe('an application', () => {
    const entry = quickApp({ model: 'm' }, { displayName: 'First', userRoles: ['staff'] });
    const base = '/v1/applications';

    it('is moved with its versions, its settings and its roles', async () => {
      await send('PUT', `${base}/${rig.files.bucket}/made`, entry);
      await send('PUT', `${base}/${rig.files.bucket}/made`, { ...entry, displayName: 'Second' });
      expect((await relocate('move', at('made', 'applications'), at('in/moved', 'applications'))).status).toBe(200);
      expect((await send('GET', `${base}/${rig.files.bucket}/made`)).status).toBe(404);
      const moved = await send('GET', `${base}/${rig.files.bucket}/in/moved`);
      expect(moved.json).toMatchObject({ id: at('in/moved', 'applications'), displayName: 'Second', userRoles: ['staff'] });
      const former = await send('GET', `/v1/versions/applications/${rig.files.bucket}/in/moved?version=1`);
      expect(former.json).toMatchObject({ displayName: 'First', version: 1 });
      const listed = (await send('GET', `/v1/metadata/applications/${rig.files.bucket}/?recursive=true`)).json;
      expect(listed).toMatchObject({
        items: [{ name: 'moved', parentPath: 'in', resourceType: 'APPLICATION', nodeType: 'ITEM' }],
      });
      expect(rig.saved.slice(-2)).toEqual([
        `application.saved ${at('in/moved', 'applications')}`,
        `application.deleted ${at('made', 'applications')}`,
      ]);
      expect((await relocate('move', at('in/moved', 'applications'), at('made', 'applications'))).status).toBe(200);
      expect((await send('GET', `${base}/${rig.files.bucket}/made`)).json).toMatchObject({ displayName: 'Second' });
    });

    it('takes the place of another only with overwrite', async () => {
      await send('PUT', `${base}/${rig.files.bucket}/made`, entry);
      await send('PUT', `${base}/${rig.files.bucket}/other`, { ...entry, displayName: 'Other' });
      for (const how of ['move', 'copy'] as const) {
        const { status, error } = await relocate(how, at('made', 'applications'), at('other', 'applications'));
        expect([status, error.param]).toEqual([400, 'destinationUrl']);
      }
      expect((await send('GET', `${base}/${rig.files.bucket}/other`)).json).toMatchObject({ displayName: 'Other' });
      expect((await relocate('copy', at('made', 'applications'), at('other', 'applications'), { overwrite: true })).status).toBe(
        200,
      );
      expect((await relocate('move', at('made', 'applications'), at('other', 'applications'), { overwrite: true })).status).toBe(
        200,
      );
      expect((await send('GET', `${base}/${rig.files.bucket}/other`)).json).toMatchObject({ displayName: 'First' });
      expect((await send('GET', `${base}/${rig.files.bucket}/made`)).status).toBe(404);
    });

    it('that is not there is 400, and its metadata 404', async () => {
      const { status, error } = await relocate('move', at('none', 'applications'), at('x', 'applications'));
      expect([status, error.param]).toEqual([400, 'sourceUrl']);
      expect((await send('GET', `/v1/metadata/${at('none', 'applications')}`)).error.code).toBe('deployment_not_found');
    });
  });

  describe.each(['move', 'copy'] as const)('a %s', (how) => {
    it.each([
      ['without a source', { destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['without a destination', { sourceUrl: 'files/b/x' }, 'destinationUrl'],
      ['with null for an address', { sourceUrl: null, destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['with a number for an address', { sourceUrl: 'files/b/x', destinationUrl: 1 }, 'destinationUrl'],
      ['with a text for overwrite', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/y', overwrite: 'yes' }, 'overwrite'],
      ['of no known kind', { sourceUrl: 'pictures/b/x', destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['of an address of the service', { sourceUrl: '/v1/files/b/x', destinationUrl: 'files/b/x' }, 'sourceUrl'],
      ['to another kind', { sourceUrl: 'files/b/x', destinationUrl: 'prompts/b/x' }, 'destinationUrl'],
      ['to the same place in another spelling', { sourceUrl: 'files/b/a%62', destinationUrl: 'files/b/%61b' }, 'destinationUrl'],
      ['of a folder', { sourceUrl: 'files/b/x/', destinationUrl: 'files/b/y' }, 'sourceUrl'],
      ['to a folder', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/y/' }, 'destinationUrl'],
      ['of a bucket', { sourceUrl: 'files/b', destinationUrl: 'files/c' }, 'sourceUrl'],
      ['with NUL in an address', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/a\0' }, 'destinationUrl'],
      ['with an encoded NUL in an address', { sourceUrl: 'files/b/%00', destinationUrl: 'files/b/a' }, 'sourceUrl'],
      ['with a way round', { sourceUrl: 'files/b/x', destinationUrl: 'files/b/../c/x' }, 'destinationUrl'],
      ['to too long a path', { sourceUrl: 'prompts/b/x', destinationUrl: `prompts/b/${'x'.repeat(901)}` }, 'destinationUrl'],
      ['with a field twice', '{"sourceUrl": "files/b/x", "sourceUrl": "files/b/y", "destinationUrl": "files/b/z"}', 'sourceUrl'],
    ])('%s is 400', async (_, body, param) => {
      const { status, error } = await send('POST', `/v1/ops/resource/${how}`, body);
      expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
    });

    it('returns 400 if the source does not exist', async () => {
      const { status, error } = await relocate(how, at('none'), at('taken'), { overwrite: true });
      expect([status, error.param]).toEqual([400, 'sourceUrl']);
      expect(await contents('taken')).toEqual(['what is there']);
    });

    it('returns 403 from and to a foreign bucket, whether the file exists or not', async () => {
      const others = ((await send('GET', '/v1/bucket', undefined, 'other-key')).json as { bucket: string }).bucket;
      await send('PUT', `/v1/prompts/${others}/theirs`, { id: 'i', folderId: 'f', name: 'n', content: 'c' }, 'other-key');
      for (const [from, to] of [
        [`prompts/${others}/theirs`, at('stolen', 'prompts')],
        [`prompts/${others}/none`, at('stolen', 'prompts')],
        [at('source'), `files/${others}/planted`],
        [at('source'), 'files/public/planted'],
        [`applications/${others}/theirs`, at('stolen', 'applications')],
        [at('mine', 'applications'), `applications/${others}/planted`],
      ] as const) {
        const { status, error } = await relocate(how, from, to, { overwrite: true });
        expect([from, to, status, error.code]).toEqual([from, to, 403, 'access_denied']);
      }
      expect(await contents('source')).toEqual(['the source']);
    });
  });
});
