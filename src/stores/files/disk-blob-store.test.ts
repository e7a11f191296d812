import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';
import { DiskBlobStore } from './disk-blob-store.ts';

async function* bytes(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('DiskBlobStore', () => {
  async function withFolder(work: (data: string) => Promise<void>): Promise<void> {
    await using folder = await openFolder();
    await work(folder.path);
  }

  it('creates a folder and files that only the user of the process can access', () =>
    withFolder(async (data) => {
      const store = await DiskBlobStore.open(join(data, 'new/files'));
      await store.write('a', bytes('x'));
      expect((await stat(join(data, 'new/files'))).mode & 0o777).toBe(0o700);
      expect((await stat(join(data, 'new/files/a'))).mode & 0o777).toBe(0o600);
    }));

  it('keeps files across a restart and deletes unfinished files', () =>
    withFolder(async (data) => {
      await (await DiskBlobStore.open(join(data, 'files'))).write('a', bytes('one', ' two'));
      await writeFile(join(data, 'files/b.part'), 'half');
      const store = await DiskBlobStore.open(join(data, 'files'));
      expect(await readdir(join(data, 'files'))).toEqual(['a']);
      expect(String(await readFile(join(data, 'files/a')))).toBe('one two');
      expect(await store.read('b', undefined)).toBeUndefined();
    }));
});
