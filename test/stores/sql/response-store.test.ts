import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Oversize } from '#domain/responses/conversation-store.ts';
import type { RunningResponse, StoredResponse } from '#domain/responses/response-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { describeOnEach, freshPostgres } from '#test/sql-engines.ts';
import { lockRows, untilWaiting } from './lock-rows.ts';

const seal = new Seal([new Secret('the secret of the test')]);
const nowMs = 1_763_700_000_000;
const aDay = 86_400_000;
const chainOptions = { nowMs, maxBytes: 1_000_000 };

function createStored(fields: Partial<StoredResponse> = {}): StoredResponse {
  const id = `resp_${randomUUID()}`;
  return {
    ...{ id, subject: 'user', status: 'completed', isBackground: false, previousId: undefined },
    ...{ createdAtMs: nowMs, expiresAtMs: nowMs + aDay, items: undefined },
    response: {
      id,
      status: fields.status ?? 'completed',
      output: [{ id: `msg_out_${id}`, type: 'message', content: 'Grüße 𝒳' }],
    },
    input: [{ id: `msg_in_${id}`, type: 'message', content: 'canary' }],
    ...fields,
  };
}

function createRunning(fields: Partial<RunningResponse> = {}): RunningResponse {
  const response = createStored({ status: 'in_progress', ...fields });
  return { ...response, response: { ...response.response, output: [] }, node: 'here', ...fields };
}

describeOnEach('stored responses', (node) => {
  const here = () => new SqlResponseStore(node.database, seal);
  const there = () => new SqlResponseStore(node.otherDatabase, seal);
  const measureBytes = (subject: string) => here().deleteOldest(subject, Number.MAX_SAFE_INTEGER);

  it('are read unchanged on every node, only by their user, until they expire', async () => {
    const storedResponse = createStored({
      subject: randomUUID(),
      items: [{ id: 'rs_1', type: 'reasoning', encrypted_content: 'sealed' }],
    });
    await here().add(storedResponse);
    expect(await there().find(storedResponse, nowMs)).toEqual(storedResponse);
    expect(await there().find({ ...storedResponse, subject: 'other' }, nowMs)).toBeUndefined();
    expect(await there().find(storedResponse, nowMs + aDay)).toBeUndefined();
    expect(await there().find({ ...storedResponse, id: '\0' }, nowMs)).toBeUndefined();
  });

  it('are encrypted in the database', async () => {
    const storedResponse = createStored();
    await here().add(storedResponse);
    const rows = await node.database.run((kysely) =>
      kysely.selectFrom('responses').selectAll().where('id', '=', storedResponse.id).execute(),
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  it('are read during the deletion of many responses', async () => {
    const oldest = { createdAtMs: nowMs - 4 * aDay, expiresAtMs: nowMs - 3 * aDay };
    const subject = randomUUID();
    const expired = Array.from({ length: 300 }, () => createStored({ subject: randomUUID(), ...oldest }));
    const large = Array.from({ length: 600 }, () => createStored({ subject }));
    const read = createStored();
    await Promise.all([...expired, ...large, read].map((each) => here().add(each)));
    const ended: string[] = [];
    const deletions = [
      here()
        .sweep(nowMs - 2 * aDay)
        .then((count) => ended.push(`swept ${count}`)),
      here()
        .deleteOldest(subject, 0)
        .then((bytes) => ended.push(`freed, ${bytes} bytes remain`)),
    ];
    expect(await here().find(read, nowMs)).toEqual(read);
    // SQLite has one connection, which serves its users in the order of their calls.
    if (node.engine === 'SQLite') expect(ended).toEqual([]);
    await Promise.all(deletions);
    expect(ended.toSorted()).toEqual(['freed, 0 bytes remain', 'swept 300']);
  });

  it('return the chain of previous responses in order, even if the first has expired', async () => {
    const subject = randomUUID();
    const first = createStored({ subject, expiresAtMs: nowMs + 1 });
    const second = createStored({ subject, previousId: first.id });
    const third = createStored({ subject, previousId: second.id });
    for (const each of [first, second, third]) await here().add(each);
    const later = { ...chainOptions, nowMs: nowMs + 2 };
    const ids = (chain: unknown) => (chain as StoredResponse[]).map(({ id }) => id);
    expect(await here().sweep(nowMs + 2)).toBe(0);
    expect(ids(await there().findChain(third, later))).toEqual([first.id, second.id, third.id]);
    expect(await there().findChain({ ...third, subject: 'other' }, later)).toEqual({ missingId: third.id });
    expect(await there().findChain(third, { ...later, maxBytes: 10 })).toMatchObject({ bytes: expect.any(Number) });
    expect(await there().findChain(first, later)).toEqual({ missingId: first.id });
    expect(await there().delete(first)).toBe(true);
    expect(await here().findChain(third, later)).toEqual({ missingId: first.id });
  });

  it('return their items and the items of conversations by ID, but no items of another user', async () => {
    const subject = randomUUID();
    const storedResponse = createStored({ subject });
    await here().add(storedResponse);
    const conversation = { id: `conv_${randomUUID()}`, subject, createdAtMs: nowMs, metadata: {} };
    await new SqlConversationStore(node.database, seal).add(conversation, [{ id: `msg_${subject}`, type: 'message' }]);
    const ids = [`msg_in_${storedResponse.id}`, `msg_out_${storedResponse.id}`, `msg_${subject}`, 'msg_none'];
    const findIds = async (user: string = subject) => {
      const itemsById = await there().findItems(user, ids, 1e9);
      return itemsById instanceof Map ? [...itemsById.keys()].toSorted() : itemsById;
    };
    expect(await findIds()).toEqual(ids.slice(0, 3).toSorted());
    expect(await findIds('other')).toEqual([]);
    await there().delete(storedResponse);
    expect(await findIds()).toEqual([`msg_${subject}`]);
  });

  it('return the size of their items and the items of conversations if it exceeds a limit', async () => {
    const subject = randomUUID();
    const storedResponse = createStored({ subject });
    await here().add(storedResponse);
    const conversation = { id: `conv_${randomUUID()}`, subject, createdAtMs: nowMs, metadata: {} };
    const message = { id: `msg_${subject}`, type: 'message', content: 'x'.repeat(1_000) };
    await new SqlConversationStore(node.database, seal).add(conversation, [message]);
    const read = (maxBytes: number, ...ids: string[]) => there().findItems(subject, ids, maxBytes);
    const responseIds = [`msg_in_${storedResponse.id}`, `msg_out_${storedResponse.id}`];
    const { bytes: responseBytes } = (await read(1, ...responseIds)) as Oversize;
    const { bytes: messageBytes } = (await read(1_000, message.id)) as Oversize;
    expect(messageBytes).toBeGreaterThan(1_000);
    const all = [...responseIds, message.id];
    expect(await read(responseBytes + messageBytes - 1, ...all)).toEqual({ bytes: responseBytes + messageBytes });
    expect(await read(responseBytes + messageBytes, ...all)).toHaveProperty('size', 3);
  });

  it('return the newest item of the user with an ID that other responses also have', async () => {
    const [subject, id] = [randomUUID(), `msg_${randomUUID()}`];
    const withItem = (user: string, createdAtMs: number) =>
      createStored({ subject: user, createdAtMs, input: [{ id, type: 'message', content: `${user} ${createdAtMs}` }] });
    for (const createdAtMs of [nowMs + 2, nowMs + 3, nowMs + 1]) await here().add(withItem(subject, createdAtMs));
    await Promise.all(Array.from({ length: 30 }, () => here().add(withItem('other', nowMs + 9))));
    const itemsById = await there().findItems(subject, [id], 1e9);
    expect(itemsById).toEqual(new Map([[id, expect.objectContaining({ content: `${subject} ${nowMs + 3}` })]]));
  });

  it('are counted in bytes, and the oldest ended responses are deleted beyond the quota', async () => {
    const subject = randomUUID();
    const storedResponses = Array.from({ length: 5 }, (_, nth) => createStored({ subject, createdAtMs: nowMs + nth }));
    await Promise.all(storedResponses.map((each) => here().add(each)));
    const runningResponse = createRunning({ subject, createdAtMs: nowMs - 1 });
    await there().begin(runningResponse);
    const used = await measureBytes(subject);
    const [row] = await node.database.run((kysely) =>
      kysely
        .selectFrom('responses')
        .select(({ fn }) => fn.sum<number>('bytes').as('bytes'))
        .where('subject', '=', subject)
        .execute(),
    );
    expect(used).toBe(Number(row?.bytes));
    await here().deleteOldest(subject, used - 1);
    expect(await here().find(storedResponses[0] as StoredResponse, nowMs)).toBeUndefined();
    expect(await here().find(storedResponses[1] as StoredResponse, nowMs)).toBeDefined();
    expect(await here().find(runningResponse, nowMs)).toBeDefined();
    await here().deleteOldest(subject, 0);
    expect(await here().find(runningResponse, nowMs)).toBeDefined();
    await here().delete(runningResponse);
    expect(await measureBytes(subject)).toBe(0);
  });

  it('are deleted after they expire, with their items and events', async () => {
    const subject = randomUUID();
    const runningResponse = createRunning({ subject, isBackground: true, expiresAtMs: nowMs - 5 });
    await here().begin(runningResponse);
    await here().runs.append(runningResponse, 'here', { first: 0, events: [{ sequence_number: 0 }] });
    expect(await here().sweep(nowMs - 4)).toBe(0);
    await here().end({ response: createStored({ ...runningResponse, status: 'completed' }) }, 'here');
    await here().sweep(nowMs - 4);
    expect(await here().runs.readEventsAfter(runningResponse.id, -1)).toEqual([]);
    expect(await measureBytes(subject)).toBe(0);
  });
});

describeOnEach('responses in progress', (node) => {
  const here = () => new SqlResponseStore(node.database, seal);
  const there = () => new SqlResponseStore(node.otherDatabase, seal);

  it('end once, on their node, and store no data after they were deleted or canceled', async () => {
    const [ended, deleted, cancelled] = [createRunning(), createRunning(), createRunning({ isBackground: true })];
    await Promise.all([ended, deleted, cancelled].map((each) => here().begin(each)));
    expect(await there().find(ended, nowMs)).toMatchObject({ status: 'in_progress', response: { output: [] } });
    const end = (each: StoredResponse, nodeName = 'here') =>
      here().end({ response: createStored({ id: each.id, isBackground: each.isBackground }) }, nodeName);
    expect(await end(ended, 'there')).toBe(false);
    expect(await there().delete(deleted)).toBe(true);
    expect(await there().cancel(cancelled)).toMatchObject({ status: 'cancelled' });
    expect(await here().runs.append(cancelled, 'here', { first: 0, events: [{}] })).toBe(false);
    expect(await Promise.all([ended, deleted, cancelled].map((each) => end(each)))).toEqual([true, false, false]);
    expect(await end(ended)).toBe(false);
    expect(await there().find(ended, nowMs)).toMatchObject({ status: 'completed' });
    expect(await there().find(deleted, nowMs)).toBeUndefined();
    expect(await there().find(cancelled, nowMs)).toMatchObject({ status: 'cancelled', response: { output: [] } });
  });

  it('are not canceled if they are not in the background or have ended', async () => {
    const [foreground, ended] = [createRunning(), createStored({ isBackground: true })];
    await here().begin(foreground);
    await here().add(ended);
    expect(await there().cancel(foreground)).toMatchObject({ status: 'in_progress' });
    expect(await there().cancel(ended)).toMatchObject({ status: 'completed' });
    expect(await there().cancel({ ...ended, subject: 'other' })).toBeUndefined();
  });

  it('store their events in order with concurrent writers', async () => {
    const runs = Array.from({ length: 20 }, () => createRunning({ isBackground: true }));
    await Promise.all(runs.map((each) => here().begin(each)));
    const unknownRun = createRunning({ isBackground: true });
    const many = Array.from({ length: 30 }, (_, nth) => nth * 3);
    const append = (each: RunningResponse, first: number) =>
      here().runs.append(each, 'here', {
        first,
        events: [0, 1, 2].map((nth) => ({ sequence_number: first + nth })),
      });
    const results = await Promise.all(many.flatMap((first) => [unknownRun, ...runs].map((each) => append(each, first))));
    expect(results.filter((isStored) => !isStored)).toHaveLength(many.length);
    for (const { id } of runs) {
      const all: unknown[] = [];
      for (let after = 4; ; after = 4 + all.length) {
        const events = await there().runs.readEventsAfter(id, after);
        if (events.length === 0) break;
        all.push(...events.map(({ sequence_number }) => sequence_number));
      }
      expect(all).toEqual(Array.from({ length: 85 }, (_, nth) => nth + 5));
    }
  });

  it('are started once', async () => {
    const queued = createRunning({ status: 'queued', isBackground: true });
    await here().begin(queued, { model: 'a model' });
    expect(await here().runs.start(queued, 'here')).toBe(true);
    expect(await here().runs.start(queued, 'here')).toBe(false);
  });

  it('accept a repeated write of events together with later events, also when they end', async () => {
    const run = createRunning({ isBackground: true });
    await here().begin(run);
    const events = [0, 1, 2, 3].map((sequence_number) => ({ sequence_number }));
    const append = (count: number) => here().runs.append(run, 'here', { first: 0, events: events.slice(0, count) });
    expect([await append(1), await append(2)]).toEqual([true, true]);
    expect(await there().runs.readEventsAfter(run.id, 0)).toEqual([{ sequence_number: 1 }]);
    const ended = createStored({ id: run.id, isBackground: true });
    expect(await here().end({ response: ended, events: { first: 0, events } }, 'here')).toBe(true);
    expect(await there().runs.readEventsAfter(run.id, -1)).toEqual(events);
  });

  it('are deleted by a node that did not see their write confirmed, unless another node stored them', async () => {
    const isDeleted = async (response: StoredResponse, write = response) => {
      await here().deleteUnconfirmed(write, 'here');
      return (await there().find(response, nowMs)) === undefined;
    };
    const own = [createRunning(), createRunning({ isChatRun: true, isBackground: true })];
    const claimable = createRunning({ isBackground: true, status: 'queued', node: 'there' });
    const other = createRunning({ isChatRun: true, isBackground: true, node: 'there' });
    for (const response of [...own, other]) await here().begin(response);
    await here().begin(claimable, {});
    const ended = createStored({ isChatRun: true, isBackground: true });
    await here().add(ended);
    for (const response of [...own, claimable]) expect(await isDeleted(response)).toBe(true);
    expect(await isDeleted(other)).toBe(false);
    expect(await isDeleted(ended, { ...ended, createdAtMs: nowMs - 1_000 })).toBe(false);
    expect(await isDeleted(ended)).toBe(true);
  });

  it('leave no lease of a node that was killed long ago', async () => {
    const [killed, live] = [randomUUID(), randomUUID()];
    await here().runs.renewLease(killed, nowMs - 6 * aDay);
    await here().runs.renewLease(live, nowMs - 4 * aDay);
    await here().sweep(nowMs - 5 * aDay);
    const leases = await node.database.run((kysely) =>
      kysely.selectFrom('leases').select('owner').where('owner', 'in', [killed, live]).execute(),
    );
    expect(leases).toEqual([{ owner: live }]);
  });

  it('are claimed by one node, and fail if the lease of their node expired', async () => {
    const queued = createRunning({ status: 'queued', isBackground: true, node: 'gone', subject: randomUUID() });
    await here().begin(queued, { model: 'a model' });
    const orphaned = createRunning({ isBackground: true, node: 'gone' });
    const alive = createRunning({ isBackground: true, node: 'alive' });
    await Promise.all([orphaned, alive].map((each) => here().begin(each)));
    await here().runs.append(orphaned, 'gone', { first: 0, events: [{}, {}] });
    await here().runs.renewLease('alive', nowMs + 10);
    await there().runs.renewLease('gone', nowMs - 1);
    expect((await there().runs.listWaiting(nowMs, 1000)).some(({ id }) => id === queued.id)).toBe(true);
    const claims = ['one', 'two', 'three'].map(async (name, nth) => {
      await here().runs.renewLease(name, nowMs + 10);
      return (nth % 2 === 0 ? here() : there()).runs.claim(queued, name, nowMs);
    });
    const claimed = (await Promise.all(claims)).filter((each) => each !== undefined);
    expect(claimed).toEqual([{ id: queued.id, subject: queued.subject, run: { model: 'a model' } }]);
    const failed: number[] = [];
    const fail = (each: StoredResponse, next: number) => {
      if (each.id === orphaned.id) failed.push(next);
      return { response: { ...each, status: 'failed' as const }, events: { first: next, events: [{ sequence_number: next }] } };
    };
    await Promise.all([here().runs.failOrphaned(nowMs, fail), there().runs.failOrphaned(nowMs, fail)]);
    expect(new Set(failed)).toEqual(new Set([2]));
    expect(await here().find(orphaned, nowMs)).toMatchObject({ status: 'failed' });
    expect(await here().runs.readEventsAfter(orphaned.id, 1)).toEqual([{ sequence_number: 2 }]);
    expect(await here().find(alive, nowMs)).toMatchObject({ status: 'in_progress' });
  });

  it('do not fail while their node writes events after its lease expired', async () => {
    const run = createRunning({ isBackground: true, node: 'slow' });
    await here().begin(run);
    await here().runs.append(run, 'slow', { first: 0, events: [{ sequence_number: 0 }] });
    await there().runs.renewLease('slow', nowMs - 1);
    const fail = (each: StoredResponse, next: number) => {
      // The node wrote its event after this node read the number of the next one.
      const first = each.id === run.id ? next - 1 : next;
      return { response: { ...each, status: 'failed' as const }, events: { first, events: [{ sequence_number: -1 }] } };
    };
    expect(await there().runs.failOrphaned(nowMs, fail)).toBeGreaterThan(0);
    expect(await here().find(run, nowMs)).toMatchObject({ status: 'in_progress' });
    expect(await here().runs.readEventsAfter(run.id, -1)).toEqual([{ sequence_number: 0 }]);
  });
});

describe('two nodes that query PostgreSQL concurrently', () => {
  const open = async () => {
    const cluster = await freshPostgres();
    const opened = await Promise.all([cluster.open(), cluster.open()]);
    const [one, other] = opened.map(({ database }) => new SqlResponseStore(database, seal)) as [
      SqlResponseStore,
      SqlResponseStore,
    ];
    return {
      ...{ one, other, databases: opened.map(({ database }) => database) as [SqlDatabase, SqlDatabase] },
      async [Symbol.asyncDispose]() {
        for (const { close } of opened) await close();
        await cluster[Symbol.asyncDispose]();
      },
    };
  };

  it('keep responses of a node that is alive although their clocks differ by a minute', async () => {
    await using fresh = await freshPostgres();
    const early = { epochMs: () => systemClock.epochMs() + 60_000 };
    await using exact = await fresh.open();
    await using ahead = await fresh.open({ clock: early });
    const [here, there] = [exact, ahead].map(({ database }) => new SqlResponseStore(database, seal).runs);
    const stores = new SqlResponseStore(exact.database, seal);
    const [alive, gone] = ['alive', 'gone'].map((node) => createRunning({ status: 'queued', isBackground: true, node }));
    for (const run of [alive, gone]) await stores.begin(run ?? expect.unreachable(), { model: 'a model' });
    await here?.renewLease('alive', systemClock.epochMs() + 15_000);
    await there?.renewLease('gone', early.epochMs() - 1_000);
    const expected = [{ id: gone?.id, subject: gone?.subject }];
    expect(await there?.listWaiting(early.epochMs(), 10)).toEqual(expected);
    expect(await here?.listWaiting(systemClock.epochMs(), 10)).toEqual(expected);
  });

  it('delete responses beyond the quota of a user once, and report the same size', async () => {
    await using nodes = await open();
    const storedResponses = [0, 1, 2].map((nth) => createStored({ createdAtMs: nowMs + nth }));
    for (const each of storedResponses) await nodes.one.add(each);
    const used = await nodes.one.deleteOldest('user', Number.MAX_SAFE_INTEGER);
    await using locked = await lockRows(nodes.databases[0], 'responses', storedResponses[0]?.id ?? '');
    const deletions = [nodes.one, nodes.other].map((each) => each.deleteOldest('user', used - 1));
    await untilWaiting(nodes.databases[0], 2);
    await locked.release();
    const results = await Promise.all(deletions);
    const remainingBytes = await nodes.one.deleteOldest('user', Number.MAX_SAFE_INTEGER);
    expect(results).toEqual([remainingBytes, remainingBytes]);
    expect(remainingBytes).toBeLessThan(used);
    for (const each of storedResponses.slice(1)) expect(await nodes.one.find(each, nowMs)).toBeDefined();
  });

  it('claim a queued run once, even if another node claims it while the first claim waits for the row lock', async () => {
    await using nodes = await open();
    const queued = createRunning({ status: 'queued', isBackground: true, node: 'gone' });
    await nodes.one.begin(queued, { model: 'a model' });
    await using locked = await lockRows(nodes.databases[0], 'responses', queued.id);
    const claiming = nodes.other.runs.claim(queued, 'late', nowMs);
    await untilWaiting(nodes.databases[0], 1);
    await nodes.one.runs.renewLease('early', nowMs + 10);
    await locked.query((kysely) => kysely.updateTable('responses').set({ owner: 'early' }).where('id', '=', queued.id).execute());
    await locked.release();
    expect(await claiming).toBeUndefined();
  });
});

it('PostgreSQL commits background responses synchronously and other responses asynchronously', async () => {
  await using cluster = await freshPostgres();
  await using opened = await cluster.open();
  const { database } = opened;
  const store = new SqlResponseStore(database, seal);
  const collectCommitModes = async (work: () => Promise<unknown>): Promise<unknown> => {
    await database.run((kysely) => sql`delete from at_commit`.execute(kysely));
    await work();
    return (await database.run((kysely) => sql<{ mode: string }>`select distinct mode from at_commit`.execute(kysely))).rows;
  };
  await database.run(async (kysely) => {
    await sql`create table at_commit (mode text)`.execute(kysely);
    await sql.raw(noteAtCommit).execute(kysely);
    await sql`create constraint trigger noted after insert or update on responses deferrable initially deferred
      for each row execute function note_at_commit()`.execute(kysely);
  });
  const [asynchronous, synchronous] = [[{ mode: 'off' }], [{ mode: 'on' }]];
  const [stream, another, background] = [createRunning(), createRunning(), createRunning({ isBackground: true })];
  const end = (each: RunningResponse) => store.end({ response: { ...each, status: 'completed' } }, 'here');
  expect(await collectCommitModes(() => store.add(createStored()))).toEqual(asynchronous);
  expect(await collectCommitModes(() => Promise.all([stream, another].map((each) => store.begin(each))))).toEqual(asynchronous);
  expect(await collectCommitModes(() => end(stream))).toEqual(asynchronous);
  expect(await collectCommitModes(() => store.begin(background, {}))).toEqual(synchronous);
  expect(
    await collectCommitModes(() =>
      Promise.all([store.add(createStored()), store.begin(createRunning({ isBackground: true }), {})]),
    ),
  ).toEqual(synchronous);
  expect(await collectCommitModes(() => Promise.all([another, background].map(end)))).toEqual(synchronous);
});

const noteAtCommit = `create function note_at_commit() returns trigger language plpgsql as
  $$ begin insert into at_commit values (current_setting('synchronous_commit')); return null; end $$`;
