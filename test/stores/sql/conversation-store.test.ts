import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { ItemQuery } from '#domain/responses/conversation-store.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { describeOnEach, freshPostgres } from '#test/sql-engines.ts';
import { lockRows, untilWaiting } from './lock-rows.ts';

const seal = new Seal([new Secret('the secret of the test')]);
const nowMs = 1_763_700_000_000;

const item = (id: string): JsonObject => ({ id, type: 'message', content: `text of ${id}` });
const conversation = () => ({ id: `conv_${randomUUID()}`, subject: 'user', createdAtMs: nowMs, metadata: { topic: 'Grüße' } });

describeOnEach('conversations', (node) => {
  const here = () => new SqlConversationStore(node.database, seal);
  const there = () => new SqlConversationStore(node.otherDatabase, seal);
  const runs = () => new SqlResponseStore(node.database, seal).runs;

  it('are read unchanged on every node, only by their user, until they are deleted', async () => {
    const created = conversation();
    await here().add(created, [item('msg_1')]);
    expect(await there().find(created)).toEqual(created);
    expect(await there().find({ ...created, subject: 'other' })).toBeUndefined();
    expect(await there().setMetadata({ ...created, subject: 'other' }, {})).toBeUndefined();
    expect(await there().setMetadata(created, { topic: 'b' })).toEqual({ ...created, metadata: { topic: 'b' } });
    expect(await here().findItem(created, 'msg_1')).toEqual(item('msg_1'));
    expect(await here().findItem({ ...created, subject: 'other' }, 'msg_1')).toBeUndefined();
    expect(await here().delete({ ...created, subject: 'other' })).toBe(false);
    expect(await here().delete(created)).toBe(true);
    expect(await there().find(created)).toBeUndefined();
    expect(await there().findItem(created, 'msg_1')).toBeUndefined();
  });

  it('return their items page by page in both directions', async () => {
    const created = conversation();
    await here().add(created, ['a', 'b', 'c'].map(item));
    expect(await there().append(created, ['d', 'e'].map(item))).toEqual({});
    const page = async (query: Partial<ItemQuery>) => {
      const found = await there().readPage(created, { limit: 2, maxBytes: 1e6, order: 'asc', ...query });
      return found !== undefined && 'items' in found ? [found.items.map(({ id }) => id).join(''), found.hasMore] : found;
    };
    expect(await page({})).toEqual(['ab', true]);
    expect(await page({ after: 'b' })).toEqual(['cd', true]);
    expect(await page({ after: 'd' })).toEqual(['e', false]);
    expect(await page({ order: 'desc' })).toEqual(['ed', true]);
    expect(await page({ order: 'desc', after: 'd' })).toEqual(['cb', true]);
    expect(await page({ before: 'd' })).toEqual(['bc', true]);
    expect(await page({ order: 'desc', before: 'c' })).toEqual(['ed', false]);
    expect(await page({ order: 'desc', before: 'a' })).toEqual(['cb', true]);
    expect(await page({ after: 'a', before: 'e', limit: 10 })).toEqual(['bcd', false]);
    expect(await page({ after: 'nowhere' })).toEqual({ unknown: 'after' });
    // Each page has at least one item, regardless of its size.
    expect(await page({ limit: 10, maxBytes: 1 })).toEqual(['a', true]);
    expect(await page({ limit: 10, maxBytes: 1, order: 'desc', before: 'a' })).toEqual(['b', true]);
    expect(await page({ limit: 10, maxBytes: 1, after: 'd' })).toEqual(['e', false]);
    expect(await here().deleteItem(created, 'c')).toBe(true);
    expect(await here().deleteItem(created, 'c')).toBe(false);
    expect(await page({ limit: 10 })).toEqual(['abde', false]);
    expect(await there().readPage({ ...created, subject: 'other' }, { limit: 2, maxBytes: 1e6, order: 'asc' })).toBeUndefined();
  });

  it('contain each item ID once', async () => {
    const created = conversation();
    await here().add(created, ['a'].map(item));
    expect(await there().append(created, ['b', 'a'].map(item))).toEqual({ existingId: 'a' });
    expect(await there().append(created, ['b', 'b'].map(item))).toEqual({ existingId: 'b' });
    expect(await there().append({ ...created, subject: 'other' }, ['b'].map(item))).toBeUndefined();
    const many = Array.from({ length: 20 }, (_, nth) => [item(`${nth}`), item(`${nth} too`)]);
    await Promise.all(many.map((items, nth) => (nth % 2 === 0 ? here() : there()).append(created, items)));
    const all = await here().readPage(created, { limit: 100, maxBytes: 1e6, order: 'asc' });
    expect(all).toMatchObject({ hasMore: false, items: { length: 41 } });
  });

  it('record their size', async () => {
    const created = { ...conversation(), subject: randomUUID() };
    const used = () => new SqlResponseStore(node.database, seal).deleteOldest(created.subject, Number.MAX_SAFE_INTEGER);
    await here().add(created, []);
    const empty = await used();
    await here().append(created, ['a', 'b'].map(item));
    const full = await used();
    expect(full).toBeGreaterThan(empty);
    await here().deleteItem(created, 'a');
    expect(await used()).toBe((full + empty) / 2);
    await here().delete(created);
    expect(await used()).toBe(0);
  });

  it('are locked by one run while the lease of its node is valid', async () => {
    const created = conversation();
    await here().add(created, ['a'].map(item));
    const [activeNode, expiredNode] = [randomUUID(), randomUUID()];
    await runs().renewLease(activeNode, nowMs + 10);
    const begin = (response: string, at: string, atMs = nowMs) => there().begin(created, { run: response, node: at }, atMs);
    expect(await begin('resp_1', expiredNode)).toBe('begun');
    expect(await begin('resp_2', activeNode)).toBe('begun');
    expect(await begin('resp_3', activeNode)).toBe('locked');
    await here().release(created.id, 'resp_3');
    expect(await begin('resp_3', activeNode)).toBe('locked');
    await here().release(created.id, 'resp_2');
    const races = Array.from({ length: 10 }, (_, nth) => begin(`resp_${nth}`, activeNode));
    expect((await Promise.all(races)).filter((outcome) => outcome !== 'locked')).toHaveLength(1);
    expect(await begin('resp_4', activeNode, nowMs + 10)).toBe('begun');
    expect(await there().begin({ ...created, subject: 'other' }, { run: 'resp_5', node: activeNode }, nowMs)).toBeUndefined();
  });

  it('are extended while their responses end, and an ID of an upstream that cannot be a key harms no other response', async () => {
    const store = new SqlResponseStore(node.database, seal);
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + 1, isBackground: false, previousId: undefined, input: [] };
    await store.runs.renewLease('ending', nowMs + 60_000);
    const oddIds = ['x'.repeat(2_000), 'a\0b'];
    for (let round = 0; round < 10; round += 1) {
      const both = [conversation(), conversation()];
      const runs = both.map((created) => ({ ...times, id: `resp_${randomUUID()}`, subject: created.subject, response: {} }));
      for (const [index, run] of runs.entries()) {
        const created = both[index] as ReturnType<typeof conversation>;
        await here().add(created, []);
        await here().begin(created, { run: run.id, node: 'ending' }, nowMs);
        await store.begin({ ...run, status: 'in_progress', node: 'ending' });
      }
      const ends = runs.map((run, index) => {
        const turn = { conversation: both[index]?.id ?? '', run: run.id, items: [item(oddIds[index] ?? '')] };
        return store.end({ response: { ...run, status: 'completed' as const }, turn }, 'ending');
      });
      const appends = both.flatMap((created) => ['a', 'b'].map((id) => there().append(created, [item(id)])));
      expect(await Promise.all(ends)).toEqual([true, true]);
      expect(await Promise.all(appends)).toEqual([{}, {}, {}, {}]);
      for (const created of both) expect(await here().readAll(created, 1e9)).toHaveLength(3);
    }
  });

  it('are not continued by a stalled run after another run claimed them', async () => {
    const created = conversation();
    await here().add(created, ['a'].map(item));
    const id = `resp_${randomUUID()}`;
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + 1 };
    const run = {
      id,
      subject: created.subject,
      isBackground: false,
      previousId: undefined,
      ...times,
      response: { id },
      input: [],
    };
    const [slow, quick] = [new SqlResponseStore(node.database, seal), new SqlResponseStore(node.otherDatabase, seal)];
    await here().begin(created, { run: id, node: 'slow' }, nowMs);
    await slow.begin({ ...run, status: 'in_progress', node: 'slow' });
    const turn = { conversation: created.id, run: id, items: [item('of the slow one')] };
    const end = () => slow.end({ response: { ...run, status: 'completed' }, turn }, 'slow');
    await quick.runs.renewLease('quick', nowMs + 10);
    expect(await there().begin(created, { run: 'resp_quick', node: 'quick' }, nowMs)).toBe('begun');
    expect(await end()).toBe(true);
    expect(await there().readAll(created, 1e9)).toEqual([item('a')]);
    expect(await there().begin(created, { run: 'resp_3', node: 'quick' }, nowMs)).toBe('locked');
  });
});

it('a conversation on PostgreSQL is locked by one run even if the lease of its node started after the other claim', async () => {
  await using cluster = await freshPostgres();
  await using first = await cluster.open();
  await using second = await cluster.open();
  const [one, other] = [first.database, second.database];
  const created = conversation();
  const store = new SqlConversationStore(other, seal);
  await store.add(created, []);
  await store.begin(created, { run: 'resp_gone', node: 'gone' }, nowMs);
  await using locked = await lockRows(one, 'conversations', created.id);
  const late = store.begin(created, { run: 'resp_late', node: 'late' }, nowMs);
  await untilWaiting(one, 1);
  await new SqlResponseStore(one, seal).runs.renewLease('early', nowMs + 10);
  const lock = { run: 'resp_early', run_owner: 'early' };
  await locked.query((kysely) => kysely.updateTable('conversations').set(lock).where('id', '=', created.id).execute());
  await locked.release();
  expect(await late).toBe('locked');
});
