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
import { calls, messageOf, operationsOf, says, startRig } from './support.ts';

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
let faults: string[];

beforeEach(() => {
  blobs = new MemoryBlobs();
  faults = [];
});

const noteFault = (message: string, thrown: unknown): void => void faults.push(`${message}: ${(thrown as Error).message}`);

/** With room for 200 KiB a user. */
function open(index: FileIndex): (owner: typeof ann, kibibytes: number) => Promise<boolean> {
  const texts = new StoredTexts({
    index,
    blobs,
    clock,
    maxStoredTextBytes: 200 * kibibyte,
    newId: randomUUID,
    reportError: noteFault,
  });
  return (owner, kibibytes) => texts.store(owner, texts.newName(), 'x'.repeat(kibibytes * kibibyte));
}

describeOnEach('texts that are kept for one user', (database) => {
  it('have a bound, whatever the application and the node, and make room as they end', async () => {
    const keep = open(new SqlFileIndex(database.database));
    const keepElsewhere = open(new SqlFileIndex(database.otherDatabase));
    expect(await keep(ann, 100)).toBe(true);
    expect(await keepElsewhere({ ...ann, application: 'other' }, 100)).toBe(true);
    expect(await keep(ann, 1)).toBe(false);
    expect(faults).toEqual([
      expect.stringMatching(
        /^Could not store a text of a conversation: The texts of this user already use 204800 of 204800 bytes/,
      ),
    ]);
    expect(blobs.contents.size).toBe(2);
    expect(await keep({ ...ann, subject: 'bob' }, 100)).toBe(true);
    pass(30 * dayMs + 1000);
    expect(await keep(ann, 200)).toBe(true);
  });
});

it('A short text counts for 64 KiB, so that their number has a bound too', async () => {
  const keep = open(new MemoryFileIndex());
  const kept = [await keep(ann, 1), await keep(ann, 1), await keep(ann, 1), await keep(ann, 1)];
  expect(kept).toEqual([true, true, true, false]);
});

it('A text takes no room once it is deleted, or where it could not be written', async () => {
  const index = new MemoryFileIndex();
  const keep = open(index);
  await keep(ann, 150);
  pass(31 * dayMs);
  const { write } = blobs;
  blobs.write = () => Promise.reject(createStoreError('away'));
  expect(await keep({ ...ann, subject: 'bob' }, 1)).toBe(false);
  blobs.write = write;
  await expect.poll(() => index.reservations).toBe(0);
  expect(await keep(ann, 150)).toBe(true);
});

it('Where a user has no room left results are cut, and the call goes on', async () => {
  await using api = await startScriptedUpstream(jsonReply({ told: 'x'.repeat(39_000) }));
  const index = new MemoryFileIndex();
  const names = ['one', 'two', 'three', 'four'];
  await using rig = await startRig({
    app: operationsOf(api, ...names),
    replies: [calls(...names.map((name) => [name, {}] as const)), says('Done.')],
    options: { files: { index, blobs, maxStoredTextBytes: 1000 }, reportError: noteFault },
  });
  const reply = messageOf(await rig.chat('Read.'));
  const { state } = (reply as { custom_content: { state: object } }).custom_content;
  expect([reply.content, JSON.stringify(state).length < 88_000]).toEqual(['Done.', true]);
  expect([index.all, blobs.contents.size, faults.length]).toEqual([[], 0, 1]);
});
