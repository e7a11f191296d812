import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BlobStore } from '#domain/files/blob-store.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { toS3Address } from '#stores/files/s3-address.ts';
import { S3BlobStore } from '#stores/files/s3-blob-store.ts';
import { type Reply, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { openStore, startFiles, startFilesOnDisk } from './support.ts';

afterEach(() => vi.restoreAllMocks());

async function* bytes(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('a folder of files', () => {
  async function withFolder(work: (data: string) => Promise<void>): Promise<void> {
    await using folder = await openFolder();
    await work(folder.path);
  }

  it('is open to nobody else', () =>
    withFolder(async (data) => {
      const store = await DiskBlobStore.open(join(data, 'new/files'));
      await store.write('a', bytes('x'));
      expect((await stat(join(data, 'new/files'))).mode & 0o777).toBe(0o700);
      expect((await stat(join(data, 'new/files/a'))).mode & 0o777).toBe(0o600);
    }));

  it('keeps files over a restart, and is cleared of what a crash left unfinished', () =>
    withFolder(async (data) => {
      await (await DiskBlobStore.open(join(data, 'files'))).write('a', bytes('one', ' two'));
      await writeFile(join(data, 'files/b.part'), 'half');
      const store = await DiskBlobStore.open(join(data, 'files'));
      expect(await readdir(join(data, 'files'))).toEqual(['a']);
      expect(String(await readFile(join(data, 'files/a')))).toBe('one two');
      expect(await store.read('b', undefined)).toBeUndefined();
    }));
});

describe('an S3', () => {
  async function storeAt(...replies: readonly Reply[]) {
    const upstream = await startScriptedUpstream(...replies);
    const query = `endpoint=${encodeURIComponent(upstream.url)}&accessKeyId=id&secretAccessKey=canary`;
    const store = new S3BlobStore(toS3Address(`s3://bucket/p?${query}`, {}), 200);
    return {
      store,
      upstream,
      async [Symbol.asyncDispose]() {
        store.close();
        await upstream.close();
      },
    };
  }

  it('that never answers is waited for a bounded time', async () => {
    await using there = await storeAt(silence);
    const { store } = there;
    const asked = [store.read('a', undefined), store.write('a', bytes('x')), store.delete('a')];
    for (const outcome of await Promise.allSettled(asked))
      expect(outcome).toEqual({ status: 'rejected', reason: expect.any(StoreFault) });
    expect(there.upstream.requests.length).toBe(9);
  }, 15_000);

  it('that refuses is no file that is not there', async () => {
    const denied: Reply = ({ response }) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    await using there = await storeAt(denied);
    await expect(there.store.read('a', undefined)).rejects.toThrow(StoreFault);
  });

  it('that is no bucket is no file that is not there', async () => {
    const absent: Reply = ({ response }) => void response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    await using there = await storeAt(absent);
    await expect(there.store.read('a', undefined)).rejects.toThrow(StoreFault);
  });

  it('is sent no secret, and the name below its prefix', async () => {
    const ok: Reply = ({ response }) => void response.writeHead(200).end();
    await using there = await storeAt(ok);
    await there.store.write('name', bytes('content'));
    const [received] = there.upstream.requests;
    expect(received).toMatchObject({ method: 'PUT', path: expect.stringMatching(/^\/bucket\/p\/name(\?|$)/), text: 'content' });
    expect(JSON.stringify(received?.headers)).not.toContain('canary');
  });

  it('that breaks off in the middle breaks off the answer: never a clean end', async () => {
    const half: Reply = async (answering) => {
      answering.head(200, { 'content-length': '1000' });
      await answering.bytes('half');
      answering.cut();
    };
    await using there = await storeAt(half);
    await using store = await openStore('disk');
    const blobs: BlobStore = {
      write: (name, content) => store.blobs.write(name, content),
      delete: (name) => store.blobs.delete(name),
      read: (name, range) => there.store.read(name, range),
    };
    await using files = await startFiles({ blobs });
    await files.put('x', Buffer.alloc(1000));
    const got = await fetch(`${files.url}${files.base}/x`, { headers: { 'api-key': callerKey } });
    expect(got.status).toBe(200);
    await expect(got.text()).rejects.toThrow();
  });
});

describe('a write', () => {
  it('that the index may or may not have heard of leaves its content: it could be in use', async () => {
    await using files = await startFilesOnDisk();
    const put = files.index.put.bind(files.index);
    vi.spyOn(files.index, 'put').mockImplementationOnce(async (...given) => {
      await put(...given);
      throw new StoreFault('no answer in time');
    });
    const answer = await files.put('x', 'kept');
    expect([answer.status, answer.error.code]).toEqual([503, 'overloaded']);
    expect((await files.get('x')).text).toBe('kept');
  });

  it('succeeds though the content before it cannot be deleted, and this is noted', async () => {
    await using files = await startFilesOnDisk();
    const { store } = files;
    await files.put('x', 'one');
    vi.spyOn(store.blobs, 'delete').mockRejectedValueOnce(new StoreFault('away'));
    expect((await files.put('x', 'two')).status).toBe(200);
    expect(files.faults).toEqual([expect.stringContaining('could not be deleted')]);
    expect((await files.get('x')).text).toBe('two');
  });

  it('to an index that cannot be reached is refused before anything is kept', async () => {
    await using files = await startFilesOnDisk();
    const { store } = files;
    vi.spyOn(files.index, 'find').mockRejectedValue(new StoreFault('it is away', { cause: new Error('postgres://canary@host') }));
    for (const answer of [await files.put('x', 'x', { 'if-none-match': '*' }), await files.get('x'), await files.metadata('x')]) {
      expect(answer.error.code).toBe('overloaded');
      expect(answer.text).not.toContain('canary');
    }
    expect(await store.names()).toEqual([]);
  });

  it('of a file whose content was lost is an internal error, not a wait without end', async () => {
    await using files = await startFilesOnDisk();
    const { store } = files;
    await files.put('x', 'one');
    for (const name of await store.names()) await store.blobs.delete(name);
    const { status, error } = await files.get('x');
    expect([status, error.code]).toEqual([500, 'internal_error']);
    expect(files.faults).toHaveLength(1);
  });
});
