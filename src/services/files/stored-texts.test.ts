import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '#base/time/clock.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { createStoreError } from '#test/store-error.ts';
import { StoredTexts } from './stored-texts.ts';

let index: MemoryFileIndex;
let blobs: MemoryBlobs;
let errors: string[];

beforeEach(() => {
  index = new MemoryFileIndex();
  blobs = new MemoryBlobs();
  errors = [];
});

const recordError = (message: string): number => errors.push(message);

describe('StoredTexts', () => {
  const owner = { subject: 'ann', application: 'app' };
  const time = { nowMs: 0, epochMs: 1_700_000_000_000 };
  const clock: Clock = { nowMs: () => time.nowMs, epochMs: () => time.epochMs, sleep: () => Promise.resolve() };
  const advance = (ms: number): void => {
    time.nowMs += ms;
    time.epochMs += ms;
  };
  const open = (): StoredTexts =>
    new StoredTexts({ index, blobs, clock, maxStoredTextBytes: 1024 ** 3, newId: randomUUID, reportError: recordError });

  it('returns texts only to their owner', async () => {
    const texts = open();
    const name = texts.newName();
    expect(await texts.store(owner, name, 'größer')).toBe(true);
    expect(await texts.find(owner, name)).toBe('größer');
    const others = [
      { ...owner, subject: 'bob' },
      { ...owner, application: 'other' },
      { subject: 'an', application: 'napp' },
      { subject: '', application: '' },
    ];
    for (const other of others) expect(await texts.find(other, name)).toBeUndefined();
    for (const other of ['', '..', `../${name}`, `${name}/x`, '__proto__', 'x'.repeat(5000)])
      expect(await texts.find(owner, other)).toBeUndefined();
  });

  it('deletes texts older than 30 days when it stores new ones', async () => {
    const texts = open();
    for (let nth = 0; nth < 150; nth += 1) await texts.store(owner, texts.newName(), 'old');
    advance(20 * 86_400_000);
    await open().store(owner, texts.newName(), 'younger');
    expect(index.all).toHaveLength(151);
    advance(10 * 86_400_000 + 1000);
    const name = texts.newName();
    await texts.store(owner, name, 'new');
    await expect.poll(() => blobs.contents.size).toBe(2);
    expect(index.all).toHaveLength(2);
    expect(await texts.find(owner, name)).toBe('new');
  });

  it('retries a failed deletion after an hour', async () => {
    const texts = open();
    await texts.store(owner, texts.newName(), 'old');
    advance(40 * 86_400_000);
    const { list } = index;
    index.list = () => Promise.reject(createStoreError('unavailable'));
    expect(await texts.store(owner, texts.newName(), 'new')).toBe(true);
    await expect.poll(() => errors).toContain('could not delete old texts of conversations');
    index.list = list;
    advance(3_600_000);
    await texts.store(owner, texts.newName(), 'new');
    await expect.poll(() => index.all.length).toBe(2);
  });
});
