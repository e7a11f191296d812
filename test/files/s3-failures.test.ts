import { afterEach, describe, expect, it, vi } from 'vitest';
import { openScriptedS3 } from '#test/scripted-s3.ts';
import type { Reply } from '#test/scripted-upstream.ts';
import { callerKey } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { openStore, startFiles, startFilesOnDisk, type TestStore } from './support.ts';

afterEach(() => vi.restoreAllMocks());

describe('an S3 connection', () => {
  it('that breaks during a read breaks the response instead of ending it regularly', async () => {
    const half: Reply = async (exchange) => {
      exchange.head(200, { 'content-length': '1000' });
      await exchange.bytes('half');
      exchange.destroyConnection();
    };
    await using s3 = await openScriptedS3(half);
    await using store = await openStore('disk');
    const blobs: TestStore['blobs'] = {
      write: (name, content) => store.blobs.write(name, content),
      delete: (name) => store.blobs.delete(name),
      read: (name, range) => s3.store.read(name, range),
    };
    await using files = await startFiles({ blobs });
    await files.put('x', Buffer.alloc(1000));
    const response = await fetch(`${files.url}${files.base}/x`, { headers: { 'api-key': callerKey } });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });
});
describe('a file request', () => {
  it('retains the new content if the index fails with an unknown outcome, because the content could be in use', async () => {
    await using files = await startFilesOnDisk();
    const put = files.index.put.bind(files.index);
    vi.spyOn(files.index, 'put').mockImplementationOnce(async (...args) => {
      await put(...args);
      throw createStoreError('no answer in time');
    });
    const answer = await files.put('x', 'kept');
    expect([answer.status, answer.error.code]).toEqual([503, 'overloaded']);
    expect((await files.get('x')).text).toBe('kept');
  });

  it('succeeds and reports an error if the previous content cannot be deleted', async () => {
    await using files = await startFilesOnDisk();
    const { store } = files;
    await files.put('x', 'one');
    vi.spyOn(store.blobs, 'delete').mockRejectedValueOnce(createStoreError('unavailable'));
    expect((await files.put('x', 'two')).status).toBe(200);
    expect(files.errors).toEqual([expect.stringContaining('could not delete the unused content ')]);
    expect((await files.get('x')).text).toBe('two');
  });

  it('is rejected before any content is stored if the index is unavailable', async () => {
    await using files = await startFilesOnDisk();
    const { store } = files;
    vi.spyOn(files.index, 'find').mockRejectedValue(
      createStoreError('it is away', { cause: new Error('postgres://canary@host') }),
    );
    for (const answer of [await files.put('x', 'x', { 'if-none-match': '*' }), await files.get('x'), await files.metadata('x')]) {
      expect(answer.error.code).toBe('overloaded');
      expect(answer.text).not.toContain('canary');
    }
    expect(await store.names()).toEqual([]);
  });

  it('returns an internal error if the content of the file is missing', async () => {
    await using files = await startFilesOnDisk();
    const { store } = files;
    await files.put('x', 'one');
    for (const name of await store.names()) await store.blobs.delete(name);
    const { status, error } = await files.get('x');
    expect([status, error.code]).toEqual([500, 'internal_error']);
    expect(files.errors).toHaveLength(1);
  });
});
