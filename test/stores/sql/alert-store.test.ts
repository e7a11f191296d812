import { expect, it } from 'vitest';
import { SqlAlertStore } from '#stores/sql/limits/alert-store.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const delivery = { alert: 'alert', body: '{}', createdAtMs: 1000, expiresAtMs: 5000 };
const page = { beforeMs: Number.POSITIVE_INFINITY, beforeId: '', limit: 10 };

describeOnEach('SqlAlertStore', (node) => {
  it('adds a delivery once, and lets one node claim an attempt', async () => {
    const stores = [new SqlAlertStore(node.database), new SqlAlertStore(node.otherDatabase)] as const;
    const [store] = stores;
    await Promise.all(stores.map((each) => each.add({ id: 'one', ...delivery })));
    await store.add({ id: 'two', ...delivery });
    const pending = { ...delivery, status: 'pending', attempts: 0, attemptedAtMs: null, nextAtMs: 1000, error: null } as const;
    const [first = expect.unreachable(), ...others] = (await store.listOpen(10)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect([first, ...others]).toEqual([
      { id: 'one', ...pending },
      { id: 'two', ...pending },
    ]);
    expect((await Promise.all(stores.map((each) => each.claim(first, 9000)))).toSorted()).toEqual([false, true]);
    await store.update('one', { status: 'delivered', nextAtMs: null, error: null });
    await store.update('one', { status: 'pending', nextAtMs: 2000, error: 'late' });
    expect((await store.listOpen(10)).map(({ id }) => id)).toEqual(['two']);
    expect((await store.list(page)).map(({ id, status, attempts }) => [id, status, attempts])).toEqual([
      ['two', 'pending', 0],
      ['one', 'delivered', 1],
    ]);
    expect((await store.list({ ...page, beforeMs: 1000, beforeId: 'two' })).map(({ id }) => id)).toEqual(['one']);
    await store.deleteExpired(6000);
    expect((await store.list(page)).map(({ id }) => id)).toEqual(['two']);
    await store.update('two', { status: 'canceled', nextAtMs: null, error: null });
    await store.deleteExpired(6000);
  });

  it('returns the state of each alert', async () => {
    const store = new SqlAlertStore(node.database);
    const add = async (alert: string, id: string, state?: Parameters<typeof store.update>[1]) => {
      await store.add({ ...delivery, id, alert });
      if (state !== undefined) await store.update(id, state);
    };
    await add('mixed', 'a', { status: 'delivered', nextAtMs: null, error: null, attemptedAtMs: 1100 });
    await add('mixed', 'b', { status: 'delivered', nextAtMs: null, error: null, attemptedAtMs: 1300 });
    await add('mixed', 'c', { status: 'failed', nextAtMs: 9000, error: 'early', attemptedAtMs: 1200 });
    await add('mixed', 'd', { status: 'pending', nextAtMs: 1700, error: 'late', attemptedAtMs: 1400 });
    await add('mixed', 'e');
    await add('canceled', 'f', { status: 'canceled', nextAtMs: null, error: null });
    await add('unlisted', 'g');
    const states = await store.readStates(['mixed', 'canceled', 'unknown']);
    expect(Object.fromEntries(states)).toEqual({
      mixed: { pending: 2, nextAttemptAtMs: 1000, lastSentAtMs: 1300, lastFailure: { atMs: 1400, error: 'late' } },
      canceled: { pending: 0, nextAttemptAtMs: null, lastSentAtMs: null, lastFailure: null },
    });
  });
});
