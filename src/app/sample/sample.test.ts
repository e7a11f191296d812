import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { createLog } from '#telemetry/log.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { startSample } from './sample.ts';

function createDeps(blobs: DiskBlobStore, index = new MemoryFileIndex()) {
  const lines: string[] = [];
  const log = createLog({ level: 'info', sink: { write: (line) => lines.push(line) }, secrets: () => [] });
  return { deps: { files: { index, blobs }, clock: systemClock, log }, index, lines };
}

describe('startSample', () => {
  it('stores each document once, and again if it has changed', async () => {
    await using folder = await openFolder();
    const blobs = await DiskBlobStore.open(join(folder.path, 'files'));
    const { deps, index, lines } = createDeps(blobs);
    const sample = await startSample('secret');
    await sample.prepare(deps);
    const first = index.all;
    expect(first.map(({ bucket, path }) => `${bucket}/${path}`)).toEqual([
      '~sample/handbook.md',
      '~sample/prices.csv',
      '~sample/questions.html',
    ]);
    await sample.prepare(deps);
    expect(index.all).toEqual(first);
    const [handbook] = first;
    if (handbook === undefined) throw new Error('nothing is stored');
    const oldBlob = randomUUID();
    await blobs.write(oldBlob, toBytes('An older handbook.'));
    await index.put({ ...handbook, etag: 'old', blob: oldBlob }, undefined, Number.MAX_SAFE_INTEGER);
    await sample.prepare(deps);
    expect(index.all.map(({ etag }) => etag)).toEqual(first.map(({ etag }) => etag));
    expect(await blobs.read(oldBlob, undefined)).toBeUndefined();
    expect(lines).toEqual([]);
    await sample.server?.close();
  });

  it('leaves the app out and logs the reason if its tools cannot listen', async () => {
    await using folder = await openFolder();
    const { deps, index, lines } = createDeps(await DiskBlobStore.open(join(folder.path, 'files')));
    const sample = await startSample('secret', '192.0.2.1');
    await sample.prepare(deps);
    expect(sample.server).toBeUndefined();
    expect(lines.join()).toMatch(/EADDRNOTAVAIL.+the sample app is left out/s);
    expect(index.all).toEqual([]);
  });

  it('logs an error if its documents cannot be stored', async () => {
    await using folder = await openFolder();
    const { deps, lines } = createDeps(await DiskBlobStore.open(join(folder.path, 'files')));
    const sample = await startSample('secret');
    const files = { ...deps.files, index: { ...deps.files.index, find: () => Promise.reject(new Error('away')) } };
    await sample.prepare({ ...deps, files: files as never });
    await sample.server?.close();
    expect(lines.join()).toContain('cannot store the documents of the sample app');
  });
});

async function* toBytes(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
