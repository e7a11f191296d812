import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import '#test/same-cases.ts';
import { expect, it } from 'vitest';
import type { FilePage, IndexedFile, Reservation } from '#domain/files/file-index.ts';
import { listFolder } from '#domain/files/list-folder.ts';
import { StoreError } from '#domain/store-error.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const unbounded = Number.MAX_SAFE_INTEGER;
const emptyPage: FilePage = { items: [], next: undefined };

function file(bucket: string, path: string, fields: Partial<IndexedFile> = {}): IndexedFile {
  const etag = randomUUID();
  const times = { createdAtMs: 1_763_700_000_123, updatedAtMs: 1_763_700_000_456 };
  return { bucket, path, contentType: 'text/plain', contentLength: 10, etag, blob: etag, ...times, ...fields };
}

function byCodePoints(one: string, another: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(another));
}

describeOnEach('file index', (node) => {
  const index = () => new SqlFileIndex(node.database);
  const indexes = () => [index(), new SqlFileIndex(node.otherDatabase)] as const;

  async function putAll(bucket: string, paths: readonly string[]): Promise<void> {
    for (const path of paths) await index().put(file(bucket, path), undefined, unbounded);
  }

  async function listAll(bucket: string, prefix: string, limit = 3): Promise<string[]> {
    const paths: string[] = [];
    let after: string | undefined;
    do {
      const page = await index().list({ bucket, prefix, after, limit });
      expect(page.items.length).toBe(page.next === undefined ? page.items.length : limit);
      paths.push(...page.items.map(({ path }) => path));
      after = page.next;
    } while (after !== undefined);
    return paths;
  }

  it('returns a file unchanged on every node immediately', async () => {
    const bucket = randomUUID();
    const stored = file(bucket, 'a/b.txt', { contentLength: 2 ** 40 });
    expect(await index().put(stored, undefined, unbounded)).toEqual({ outcome: 'stored', stored, replaced: undefined });
    for (const each of indexes()) expect(await each.find(bucket, 'a/b.txt')).toEqual(stored);
    expect(await index().find(bucket, 'a')).toBeUndefined();
    expect(await index().find(bucket, 'a/B.txt')).toBeUndefined();
    expect(await index().find(`${bucket}x`, 'a/b.txt')).toBeUndefined();
  });

  it('returns the replaced content and keeps the creation time', async () => {
    const bucket = randomUUID();
    const first = file(bucket, 'a');
    const next = file(bucket, 'a', { createdAtMs: 1, updatedAtMs: 2, contentType: 'text/html', contentLength: 3 });
    const stored = { ...next, createdAtMs: first.createdAtMs };
    await index().put(first, undefined, unbounded);
    expect(await index().put(next, undefined, unbounded)).toEqual({ outcome: 'stored', stored, replaced: first });
    expect(await index().find(bucket, 'a')).toEqual(stored);
  });

  it('stores a file only if the condition is true', async () => {
    const bucket = randomUUID();
    const first = file(bucket, 'a');
    const failed = { outcome: 'condition_failed' };
    expect(await index().put(first, 'present', unbounded)).toEqual(failed);
    expect(await index().put(first, { etag: first.etag }, unbounded)).toEqual(failed);
    expect(await index().find(bucket, 'a')).toBeUndefined();
    expect(await index().put(first, 'absent', unbounded)).toMatchObject({ outcome: 'stored' });
    expect(await index().put(file(bucket, 'a'), 'absent', unbounded)).toEqual(failed);
    expect(await index().put(file(bucket, 'a'), { etag: 'other' }, unbounded)).toEqual(failed);
    expect(await index().find(bucket, 'a')).toEqual(first);
    expect(await index().put(file(bucket, 'a'), { etag: first.etag }, unbounded)).toMatchObject({ replaced: first });
    expect(await index().put(file(bucket, 'a'), 'present', unbounded)).toMatchObject({ outcome: 'stored' });
  });

  it('admits a single one of the concurrent writers of a file', async () => {
    const bucket = randomUUID();
    const race = async (condition: 'absent' | { etag: string }) => {
      const puts = Array.from({ length: 16 }, (_, n) => indexes()[n % 2 ? 1 : 0].put(file(bucket, 'a'), condition, unbounded));
      return (await Promise.all(puts)).filter(({ outcome }) => outcome === 'stored');
    };
    expect(await race('absent')).toHaveLength(1);
    const { etag = '' } = (await index().find(bucket, 'a')) ?? {};
    expect(await race({ etag })).toHaveLength(1);
  });

  it('never exceeds the quota of a bucket with concurrent uploads', async () => {
    const bucket = randomUUID();
    const puts = Array.from({ length: 40 }, (_, n) => indexes()[n % 2 ? 1 : 0].put(file(bucket, `file ${n}`), undefined, 105));
    const outcomes = await Promise.all(puts);
    expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(10);
    expect(outcomes.filter(({ outcome }) => outcome === 'over_quota')).toHaveLength(30);
    expect(await listAll(bucket, '')).toHaveLength(10);
    expect(await index().put(file(bucket, 'one more'), undefined, 105)).toEqual({ outcome: 'over_quota', usedBytes: 100 });
    expect(await index().put(file(bucket, 'small', { contentLength: 5 }), undefined, 105)).toMatchObject({ outcome: 'stored' });
    expect(await index().put(file(`${bucket}2`, 'a'), undefined, 105)).toMatchObject({ outcome: 'stored' });
  });

  function reservation(bucket: string, path: string, fields: Partial<Reservation> = {}): Reservation {
    return { bucket, path, blob: randomUUID(), bytes: 10, nowMs: 1_000, untilMs: 2_000, ...fields };
  }

  it('never reserves more than the free quota with concurrent reservations on two nodes', async () => {
    const bucket = randomUUID();
    await index().put(file(bucket, 'there', { contentLength: 40 }), undefined, unbounded);
    const reservations = Array.from({ length: 30 }, (_, n) =>
      indexes()[n % 2 ? 1 : 0].reserve(reservation(bucket, `file ${n}`), 105),
    );
    const outcomes = await Promise.all(reservations);
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(6);
    const rejections = outcomes.filter((outcome) => outcome !== 'reserved');
    for (const { usedBytes } of rejections) expect(usedBytes).toBeGreaterThan(95);
    expect(await index().put(file(bucket, 'one more', { updatedAtMs: 1_999 }), undefined, 105)).toEqual({
      outcome: 'over_quota',
      usedBytes: 100,
    });
    expect(await index().reserve(reservation(`${bucket}2`, 'a', { bytes: 105 }), 105)).toBe('reserved');
  });

  it('frees reserved quota after a release, an upload, or the expiry of the reservation', async () => {
    const bucket = randomUUID();
    const [one, two, expired] = ['a', 'b', 'c'].map((path) => reservation(bucket, path, { bytes: 30 })) as [
      Reservation,
      Reservation,
      Reservation,
    ];
    const reserve = async (path: string, nowMs = 1_000) => {
      const reservations = reservation(bucket, path, { nowMs, untilMs: nowMs + 1_000 });
      const outcome = await index().reserve(reservations, 100);
      if (outcome === 'reserved') await index().release(reservations.blob);
      return outcome === 'reserved' ? 'room' : outcome.usedBytes;
    };
    for (const each of [one, two, expired]) expect(await index().reserve(each, 100)).toBe('reserved');
    expect(await reserve('d')).toBe('room');
    expect(await index().reserve({ ...one, bytes: 40 }, 100)).toBe('reserved');
    expect(await index().reserve({ ...one, bytes: 41 }, 100)).toMatchObject({ usedBytes: 60 });
    expect(await reserve('d')).toBe(100);
    await index().release(two.blob);
    await index().release('of nothing');
    expect(await reserve('d')).toBe('room');
    const stored = file(bucket, 'a', { blob: one.blob, contentLength: 70, updatedAtMs: 1_000 });
    expect(await index().put(stored, undefined, 100)).toMatchObject({ outcome: 'stored' });
    expect(await reserve('d', 1_999)).toBe(100);
    expect(await reserve('d', 2_000)).toBe('room');
  });

  it('lets one reservation reuse the quota of the file that it replaces', async () => {
    const bucket = randomUUID();
    await index().put(file(bucket, 'a', { contentLength: 90 }), undefined, unbounded);
    const first = reservation(bucket, 'a', { bytes: 95 });
    const second = reservation(bucket, 'a', { bytes: 95 });
    expect(await index().reserve(first, 100)).toBe('reserved');
    expect(await index().reserve(second, 100)).toEqual({ outcome: 'over_quota', usedBytes: 95 });
    expect(await index().reserve({ ...first, bytes: 100 }, 100)).toBe('reserved');
    await index().release(first.blob);
    expect(await index().reserve(second, 100)).toBe('reserved');
    const stored = file(bucket, 'a', { blob: second.blob, contentLength: 95, updatedAtMs: 1_000 });
    expect(await index().put(stored, undefined, 100)).toMatchObject({ outcome: 'stored' });
  });

  it('lists contents that no file and no upload uses', async () => {
    const bucket = randomUUID();
    const stored = file(bucket, 'a');
    const [coming, expired] = [reservation(bucket, 'b'), reservation(bucket, 'c', { untilMs: 1_500 })];
    await index().put(stored, undefined, unbounded);
    for (const each of [coming, expired]) await index().reserve(each, unbounded);
    const blobs = [stored.blob, coming.blob, expired.blob, 'nobody’s'];
    expect(await index().findUnused(blobs, 1_499)).toEqual(['nobody’s']);
    expect(await index().findUnused(blobs, 1_500)).toEqual([expired.blob, 'nobody’s']);
    await index().delete(bucket, 'a', undefined);
    expect(await index().findUnused(blobs, 2_000)).toEqual(blobs);
  });

  it('has a database name that is the same on every node', async () => {
    const [name, other] = await Promise.all(indexes().map((each) => each.readDatabaseName()));
    expect(name).toMatch(/^[\da-f-]{32,36}$/);
    expect(other).toBe(name);
  });

  it('counts replaced and deleted contents as free', async () => {
    const bucket = randomUUID();
    const put = async (path: string, contentLength: number) =>
      (await index().put(file(bucket, path, { contentLength }), undefined, 100)).outcome;
    expect(await put('a', 100)).toBe('stored');
    expect(await put('b', 1)).toBe('over_quota');
    expect(await put('a', 101)).toBe('over_quota');
    expect(await put('a', 60)).toBe('stored');
    expect(await put('b', 41)).toBe('over_quota');
    expect(await put('b', 40)).toBe('stored');
    await index().delete(bucket, 'a', undefined);
    expect(await put('c', 60)).toBe('stored');
    expect(await put('d', 1)).toBe('over_quota');
    expect(await put('d', 0)).toBe('stored');
  });

  it('accepts smaller contents after the quota was lowered', async () => {
    const [bucket, other] = [randomUUID(), randomUUID()];
    for (const path of ['a', 'b']) await index().put(file(bucket, path, { contentLength: 50 }), undefined, unbounded);
    await index().put(file(other, 'small', { contentLength: 20 }), undefined, unbounded);
    const upload = reservation(bucket, 'a', { bytes: 40 });
    expect(await index().reserve(upload, 60)).toBe('reserved');
    expect(await index().reserve({ ...upload, bytes: 51 }, 60)).toMatchObject({ outcome: 'over_quota' });
    const smaller = file(bucket, 'a', { blob: upload.blob, contentLength: 40, updatedAtMs: 1_000 });
    expect(await index().put(smaller, undefined, 60)).toMatchObject({ outcome: 'stored' });
    const move = { from: { bucket: other, path: 'small' }, to: file(bucket, 'b'), replaces: true, nowMs: 1_000 };
    expect(await index().move(move, 60)).toMatchObject({ outcome: 'moved' });
    const another = await index().put(file(bucket, 'c', { contentLength: 1 }), undefined, 60);
    expect(another).toEqual({ outcome: 'over_quota', usedBytes: 60 });
  });

  it('returns a deleted file once, and the reason if none was deleted', async () => {
    const bucket = randomUUID();
    const stored = file(bucket, 'a');
    for (const condition of [undefined, 'present', 'absent', { etag: 'other' }] as const) {
      expect(await index().delete(bucket, 'a', condition)).toBe('absent');
    }
    await index().put(stored, undefined, unbounded);
    expect(await index().delete(bucket, 'a', { etag: 'other' })).toBe('condition_failed');
    expect(await index().delete(bucket, 'a', 'absent')).toBe('condition_failed');
    const outcomes = await Promise.all(indexes().map((each) => each.delete(bucket, 'a', { etag: stored.etag })));
    expect(outcomes).toEqual(expect.arrayContaining([stored, 'absent']));
    expect(await index().find(bucket, 'a')).toBeUndefined();
  });

  it('lists paths with a prefix page by page', async () => {
    const bucket = randomUUID();
    const inside = ['a/%', 'a/0', 'a/1', 'a/2', 'a/3', 'a/_', 'a/b/c', 'a/é', 'a/\u{10ffff}'];
    await putAll(bucket, ['a', 'a-b', ...inside, 'a0', 'ab/1', 'b']);
    await putAll(`${bucket}2`, ['a/0']);
    for (const limit of [1, 2, 3, 8, 9, 10, 1000]) expect(await listAll(bucket, 'a/', limit)).toEqual(inside);
    expect(await listAll(bucket, 'a/%')).toEqual(['a/%']);
    expect(await listAll(bucket, 'a/_')).toEqual(['a/_']);
    expect(await listAll(bucket, 'A/')).toEqual([]);
    expect(await listAll(bucket, '')).toHaveLength(inside.length + 5);
    const page = await index().list({ bucket, prefix: 'a/', after: 'a/2', limit: 1 });
    expect(page).toMatchObject({ items: [{ path: 'a/3' }], next: 'a/3' });
    expect(await index().list({ bucket, prefix: 'a/', after: 'b', limit: 1 })).toEqual(emptyPage);
    expect(await index().list({ bucket, prefix: 'a/', after: '', limit: 1 })).toMatchObject({ items: [{ path: 'a/%' }] });
  });

  it('sorts by code points and finds by prefix for every path', async () => {
    const bucket = randomUUID();
    const edges = ['\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}', '\x01', '\x7f', 'a\u{10ffff}', 'a\u{10ffff}b'];
    const some = fc.sample(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }).filter((path) => !path.includes('\0')),
      { numRuns: 60, seed: 7 },
    );
    const paths = [...new Set([...edges, ...some])];
    await putAll(bucket, paths);
    const ordered = paths.toSorted(byCodePoints);
    expect(await listAll(bucket, '', 7)).toEqual(ordered);
    for (const prefix of paths) {
      expect(await listAll(bucket, prefix)).toEqual(ordered.filter((path) => path.startsWith(prefix)));
    }
  });

  it('lists folders and skips their contents', async () => {
    const bucket = randomUUID();
    await putAll(bucket, ['a', 'b/1', 'b/2', 'b/c/3', 'c\u{10ffff}', 'd/e']);
    const page = await listFolder((within) => index().list({ ...within, bucket }), {
      ...{ prefix: '', after: undefined, limit: 10, isRecursive: false },
    });
    const names = page.items.map((item) => ('item' in item ? item.item.path : item.folder));
    expect(names).toEqual(['a', 'b/', 'c\u{10ffff}', 'd/']);
  });

  it('never finds or stores a text that a database engine would change', async () => {
    const bucket = randomUUID();
    await index().put(file(bucket, '\ufffd'), undefined, unbounded);
    for (const invalidText of ['\ud800', 'a\0', 'x'.repeat(1281)]) {
      await expect(index().put(file(bucket, invalidText), undefined, unbounded)).rejects.toThrow(StoreError);
      await expect(index().put(file(invalidText, 'a'), undefined, unbounded)).rejects.toThrow(StoreError);
      expect(await index().find(bucket, invalidText)).toBeUndefined();
      expect(await index().delete(bucket, invalidText, undefined)).toBe('absent');
      expect(await index().list({ bucket, prefix: invalidText, after: undefined, limit: 9 })).toEqual(emptyPage);
      expect(await index().list({ bucket: invalidText, prefix: '', after: undefined, limit: 9 })).toEqual(emptyPage);
    }
    for (const after of ['\ud800', '\0']) {
      expect(await index().list({ bucket, prefix: '', after, limit: 9 })).toEqual(emptyPage);
    }
  });
});
