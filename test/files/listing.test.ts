import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { createFileIndex } from '#test/sql-stores.ts';
import { type FileService, startFilesOnDisk } from './support.ts';

interface Page {
  readonly items: readonly { readonly name: string; readonly url: string; readonly nodeType: string; readonly etag?: string }[];
  readonly nextToken: string | null;
}

const cleanups: (() => unknown)[] = [];

async function openIndex(kind: string) {
  if (kind === 'memory') return new MemoryFileIndex();
  const sqlite = await freshSqlite();
  const { database, close } = await sqlite.open();
  cleanups.push(close, () => sqlite[Symbol.asyncDispose]());
  return createFileIndex(database);
}

describe.each(['memory', 'SQLite'])('a file listing from %s', (kind) => {
  let files: FileService;
  const paths = [
    'a!',
    'a/1',
    'a/2',
    'a/b/1',
    'a/\u{10ffff}x',
    'a0',
    'many/x/y/z',
    ...Array.from({ length: 120 }, (_, index) => `many/${index}`),
    'z',
    'ä',
    '\uff5e',
    '𝒳/1',
  ];

  beforeAll(async () => {
    files = await startFilesOnDisk({ index: await openIndex(kind) });
    for (const path of paths) await files.put(encodeURIComponent(path), path);
  });

  afterAll(async () => {
    await files[Symbol.asyncDispose]();
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function readPage(path: string, query: Record<string, string> = {}): Promise<Page> {
    const { json, status } = await files.metadata(`${path}?${new URLSearchParams(query)}`);
    expect(status).toBe(200);
    return json as Page;
  }

  /** Returns the items of every page, as decoded paths below the bucket. */
  async function listAll(path: string, query: Record<string, string> = {}): Promise<string[]> {
    const urls: string[] = [];
    let token: string | null = '';
    for (let pages = 0; token !== null; pages += 1) {
      expect(pages).toBeLessThan(200);
      const { items, nextToken }: Page = await readPage(path, { ...query, ...(token && { token }) });
      urls.push(...items.map(({ url }) => decodeURIComponent(url).slice(`files/${files.bucket}/`.length)));
      token = nextToken;
    }
    return urls;
  }

  const top = ['a!', 'a/', 'a0', 'many/', 'z', 'ä', '\uff5e', '𝒳/'];

  it('of a bucket contains its files and folders in byte order', async () => {
    expect(await listAll('')).toEqual(top);
    const { items, nextToken } = await readPage('');
    expect(nextToken).toBeNull();
    expect(items[0]).toMatchObject({ name: 'a!', nodeType: 'ITEM', contentLength: 2 });
    expect(items[1]).toEqual({
      name: 'a',
      parentPath: null,
      bucket: files.bucket,
      url: `files/${files.bucket}/a/`,
      nodeType: 'FOLDER',
      resourceType: 'FILE',
    });
  });

  it('of a bucket can be requested without a slash', async () => {
    const { json } = await files.service.sendRequest({
      method: 'GET',
      path: `/v1/metadata/files/${files.bucket}`,
      headers: { 'api-key': 'caller-key' },
    });
    expect((json as Page).items).toHaveLength(top.length);
  });

  it('of a folder contains its direct children', async () => {
    expect(await listAll('a/')).toEqual(['a/1', 'a/2', 'a/b/', 'a/\u{10ffff}x']);
    expect(await listAll('many/x/')).toEqual(['many/x/y/']);
    expect(await listAll('%F0%9D%92%B3/')).toEqual(['𝒳/1']);
  });

  it('with recursive=true contains every file and no folders', async () => {
    const sortedPaths = [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await listAll('', { recursive: 'true', limit: '1000' })).toEqual(sortedPaths);
    expect(await listAll('a/', { recursive: 'true' })).toEqual(['a/1', 'a/2', 'a/b/1', 'a/\u{10ffff}x']);
  });

  it.each(['1', '2', '3', '7', '100'])('is split into pages of %s items', async (limit) => {
    expect(await listAll('', { limit })).toEqual(top);
    expect(await listAll('a/', { limit })).toEqual(['a/1', 'a/2', 'a/b/', 'a/\u{10ffff}x']);
    expect((await listAll('many/', { limit })).length).toBe(121);
    expect((await readPage('many/', { limit })).items.length).toBe(Number(limit));
  });

  it.each(['none/', 'z/', 'A/', 'none', 'A'])('returns 404 for a path without a folder: %s', async (path) => {
    expect((await files.metadata(path)).error.code).toBe('file_not_found');
  });

  it('of a folder describes the folder', async () => {
    const node = { bucket: files.bucket, nodeType: 'FOLDER', resourceType: 'FILE' };
    const { items: _items, ...folder } = { ...(await readPage('a/b/')) };
    expect(folder).toEqual({ ...node, name: 'b', parentPath: 'a', url: `files/${files.bucket}/a/b/`, nextToken: null });
    const { items: _all, ...bucket } = { ...(await readPage('')) };
    expect(bucket).toEqual({ ...node, name: null, parentPath: null, url: `files/${files.bucket}/`, nextToken: null });
  });

  it('of a folder can be requested without the trailing slash unless a file has that path', async () => {
    expect(await readPage('many/x')).toEqual(await readPage('many/x/'));
    const file = await files.put('a', 'a file next to the folder');
    expect(file.status).toBe(200);
    expect((await files.metadata('a')).json).toMatchObject({ nodeType: 'ITEM', name: 'a' });
    expect((await readPage('a/')).items.length).toBe(4);
    expect((await files.send('DELETE', 'a')).status).toBe(204);
  });

  it('with a limit of 0 only reports whether the folder exists', async () => {
    expect(await readPage('a/', { limit: '0' })).toMatchObject({ name: 'a', items: [], nextToken: null });
    expect((await files.metadata('none/?limit=0')).status).toBe(404);
  });

  it('contains the permissions of the caller on request', async () => {
    const { items } = await readPage('a/', { permissions: 'true' });
    expect(items).toHaveLength(4);
    for (const item of items) expect(item).toMatchObject({ permissions: ['READ', 'WRITE'] });
    for (const item of (await readPage('a/')).items) expect(item).not.toHaveProperty('permissions');
    expect((await files.metadata('z?permissions=true')).json).toMatchObject({ permissions: ['READ', 'WRITE'] });
  });

  it.each([
    'limit=-1',
    'limit=',
    'permissions=yes',
    'limit=1001',
    'limit=x',
    'limit=1.5',
    'recursive=yes',
    'token=%00',
    'token=AA',
    'token=a&token=b',
    'limit=1&limit=2',
  ])('is rejected for the invalid query %s', async (query) => {
    const { status, error } = await files.metadata(`?${query}`);
    expect([status, error.param]).toEqual([400, query.split('=')[0]]);
  });

  it.each(['a//', '../', 'a/../', '%00/', 'a%2F%2F'])('returns file_not_found for the invalid path %s', async (path) => {
    expect((await files.metadata(path)).error.code).toBe('file_not_found');
  });
});

describe('a listing of large folders', () => {
  it('is split into pages that continue where the previous one ended', async () => {
    const index = new MemoryFileIndex();
    await using files = await startFilesOnDisk({ index });
    const fields = {
      bucket: files.bucket,
      contentType: 'text/plain',
      contentLength: 0,
      etag: 'e',
      blob: 'b',
      createdAtMs: 0,
      updatedAtMs: 0,
    };
    for (let folder = 0; folder < 60; folder += 1) {
      for (let file = 0; file < 150; file += 1) await index.put({ ...fields, path: `${folder}/${file}` }, undefined, 1);
    }
    const first = (await files.metadata('?limit=1000')).json as Page;
    expect(first.items).toHaveLength(50);
    const second = (await files.metadata(`?limit=1000&token=${first.nextToken}`)).json as Page;
    expect([second.items.length, second.nextToken]).toEqual([10, null]);
    expect(new Set([...first.items, ...second.items].map(({ name }) => name)).size).toBe(60);
  });
});
