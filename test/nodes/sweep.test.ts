import { randomUUID } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { BoundedBlobStore } from '#stores/files/bounded-blob-store.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { get } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const configuration = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };
const headers = { 'api-key': callerKey };
const daysAgo = new Date(Date.now() - 2 * 86_400_000);

async function putFile(node: TestProcess, name: string): Promise<string> {
  const { bucket } = (await get(node, '/v1/bucket')).json as { bucket: string };
  const path = `/v1/files/${bucket}/${name}`;
  expect((await node.ask({ method: 'PUT', path, headers, body: name })).status).toBe(200);
  return path;
}

describe('a node that starts', () => {
  it('deletes old contents that no file uses, and nothing else', async () => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const contents = join(folder, 'files');
    const start = () => startProcess({ configuration, flags: ['--data', folder] });
    let path = '';
    {
      await using node = await start();
      path = await putFile(node, 'kept.txt');
    }
    const [used = expect.unreachable()] = await readdir(contents);
    const [orphan, young, foreign] = [randomUUID(), randomUUID(), 'notes.txt'];
    for (const name of [orphan, young, foreign]) await writeFile(join(contents, name), name);
    for (const name of [used, orphan, foreign]) await utimes(join(contents, name), daysAgo, daysAgo);
    await using node = await start();
    await node.said(/1 contents that no file used were deleted/);
    expect((await readdir(contents)).sort()).toEqual([used, young, foreign].sort());
    expect((await get(node, path)).text).toBe('kept.txt');
  });
});

describe('contents that are stored at once', () => {
  it('are bounded: further ones are refused, and room is made by each that ends', async () => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const store = new BoundedBlobStore(await DiskBlobStore.open(folder), 2);
    const gates = [Promise.withResolvers<'end'>(), Promise.withResolvers<'leave'>()] as const;
    async function* bytes(gate: Promise<'end' | 'leave'>) {
      yield Buffer.from('half');
      if ((await gate) === 'leave') throw new Error('the sender left');
    }
    const at = Promise.resolve('end' as const);
    const whole = store.write('one', bytes(gates[0].promise));
    const broken = store.write('two', bytes(gates[1].promise));
    await expect(store.write('three', bytes(at))).rejects.toMatchObject({ status: 503, code: 'overloaded' });
    expect(await readdir(folder)).not.toContain('three');
    gates[1].resolve('leave');
    await expect(broken).rejects.toThrow('the sender left');
    await store.write('three', bytes(at));
    gates[0].resolve('end');
    await whole;
    expect((await readdir(folder)).sort()).toEqual(['one', 'three']);
  });
});
