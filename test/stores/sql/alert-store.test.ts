import { expect, it } from 'vitest';
import { SqlAlertStore } from '#stores/sql/alerts/alert-store.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const delivery = { alert: 'alert', body: '{}', createdAtMs: 1000, expiresAtMs: 5000 };
const page = { beforeMs: Number.POSITIVE_INFINITY, beforeId: '', limit: 10 };

describeOnEach('SqlAlertStore', (node) => {
  it('adds a delivery once, and lets one node claim an attempt', async () => {
    const stores = [new SqlAlertStore(node.database), new SqlAlertStore(node.otherDatabase)] as const;
    const [store] = stores;
    await Promise.all(stores.map((each) => each.add({ id: 'one', ...delivery })));
    await store.add({ id: 'two', ...delivery });
    const pending = { ...delivery, status: 'pending', attempts: 0, nextAtMs: 1000, error: null } as const;
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
  });
});
