import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { Clock } from '#base/time/clock.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import { StoredTexts } from '#services/files/stored-texts.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { describeOnEach } from '#test/sql-engines.ts';
import { createStoreError } from '#test/store-error.ts';
import { buildOperations, calls, getMessage, says, startRig } from './support.ts';

const ann = { subject: 'ann', application: 'app' };
const kibibyte = 1024;
const dayMs = 86_400_000;
const time = { nowMs: 0, epochMs: 1_700_000_000_000 };
const clock: Clock = { nowMs: () => time.nowMs, epochMs: () => time.epochMs, sleep: () => Promise.resolve() };
const pass = (ms: number): void => {
  time.nowMs += ms;
  time.epochMs += ms;
};

let blobs: MemoryBlobs;
let errors: string[];

beforeEach(() => {
  blobs = new MemoryBlobs();
  errors = [];
});

const reportError = (message: string, error: unknown): void => void errors.push(`${message}: ${(error as Error).message}`);

/** Returns a function that stores a text of this size. The quota is 200 KiB per user. */
function createStore(index: FileIndex): (owner: typeof ann, kibibytes: number) => Promise<boolean> {
  const texts = new StoredTexts({
    index,
    blobs,
    clock,
    maxStoredTextBytes: 200 * kibibyte,
    newId: randomUUID,
    reportError,
  });
  return (owner, kibibytes) => texts.store(owner, texts.newName(), 'x'.repeat(kibibytes * kibibyte));
}

describeOnEach('stored texts of one user', (database) => {
  it('have a quota across applications and nodes, which is free again after they expire', async () => {
    const storeText = createStore(new SqlFileIndex(database.database));
    const storeOnOtherNode = createStore(new SqlFileIndex(database.otherDatabase));
    expect(await storeText(ann, 100)).toBe(true);
    expect(await storeOnOtherNode({ ...ann, application: 'other' }, 100)).toBe(true);
    expect(await storeText(ann, 1)).toBe(false);
    expect(errors).toEqual([
      expect.stringMatching(
        /^could not store a text of a conversation: The texts of this user already use 204800 of 204800 bytes/,
      ),
    ]);
    expect(blobs.contents.size).toBe(2);
    expect(await storeText({ ...ann, subject: 'bob' }, 100)).toBe(true);
    pass(30 * dayMs + 1000);
    expect(await storeText(ann, 200)).toBe(true);
  });
});

it('a short text counts as 64 KiB, which limits the number of texts', async () => {
  const storeText = createStore(new MemoryFileIndex());
  const results = [await storeText(ann, 1), await storeText(ann, 1), await storeText(ann, 1), await storeText(ann, 1)];
  expect(results).toEqual([true, true, true, false]);
});

it('a text uses no quota after it is deleted, or if writing it fails', async () => {
  const index = new MemoryFileIndex();
  const storeText = createStore(index);
  await storeText(ann, 150);
  pass(31 * dayMs);
  const { write } = blobs;
  blobs.write = () => Promise.reject(createStoreError('unavailable'));
  expect(await storeText({ ...ann, subject: 'bob' }, 1)).toBe(false);
  blobs.write = write;
  await expect.poll(() => index.reservations).toBe(0);
  expect(await storeText(ann, 150)).toBe(true);
});

it('results are truncated if the user has no quota left, and the run continues', async () => {
  await using api = await startScriptedUpstream(jsonReply({ told: 'x'.repeat(39_000) }));
  const index = new MemoryFileIndex();
  const names = ['one', 'two', 'three', 'four'];
  await using rig = await startRig({
    app: buildOperations(api, ...names),
    replies: [calls(...names.map((name) => [name, {}] as const)), says('Done.')],
    options: { files: { index, blobs, maxStoredTextBytes: 1000 }, reportError },
  });
  const reply = getMessage(await rig.chat('Read.'));
  const { state } = (reply as { custom_content: { state: object } }).custom_content;
  expect([reply.content, JSON.stringify(state).length < 88_000]).toEqual(['Done.', true]);
  expect([index.all, blobs.contents.size, errors.length]).toEqual([[], 0, 1]);
});
