import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';
import { BoundedBlobStore } from './bounded-blob-store.ts';
import { DiskBlobStore } from './disk-blob-store.ts';

describe('BoundedBlobStore', () => {
  it('rejects writes above the limit, and frees the slot of each write that ends', async () => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const store = new BoundedBlobStore(await DiskBlobStore.open(folder), 2);
    const gates = [Promise.withResolvers<'end'>(), Promise.withResolvers<'leave'>()] as const;
    async function* bytes(gate: Promise<'end' | 'leave'>) {
      yield Buffer.from('half');
      if ((await gate) === 'leave') throw new Error('the sender left');
    }
    const at = Promise.resolve('end' as const);
    const complete = store.write('one', bytes(gates[0].promise));
    const failed = store.write('two', bytes(gates[1].promise));
    await expect(store.write('three', bytes(at))).rejects.toMatchObject({ status: 503, code: 'overloaded' });
    expect(await readdir(folder)).not.toContain('three');
    gates[1].resolve('leave');
    await expect(failed).rejects.toThrow('the sender left');
    await store.write('three', bytes(at));
    gates[0].resolve('end');
    await complete;
    expect((await readdir(folder)).sort()).toEqual(['one', 'three']);
  });
});
