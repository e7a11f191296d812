import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { ChatTurn } from '#contract/page/stored-chat.ts';
import type { ChatChange, ChatCursor } from '#domain/chats/chat-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const seal = new Seal([new Secret('the secret of the test')]);
const bounds = { maxBytesPerChat: 1024 ** 2, maxBytesPerUser: 4 * 1024 ** 2 };
const always = { ...bounds, condition: undefined };
const nowMs = 1_763_700_000_000;

const turn = (id: string, text = `text of ${id}`, parent = ''): ChatTurn => ({ id, parent, kind: 'question', atMs: 1, text });
const change = (more: Partial<ChatChange> = {}): ChatChange => ({
  ...{ updatedAtMs: nowMs, fields: {}, extra: {}, turns: [] },
  ...more,
});

describeOnEach('chats', (node) => {
  const here = () => new SqlChatStore(node.database, seal);
  const there = () => new SqlChatStore(node.otherDatabase, seal);
  const user = () => randomUUID();

  it('are written turn by turn, and are read on every node, only by their user', async () => {
    const reference = { subject: user(), id: 'a' };
    const first = change({ fields: { title: 'Grüße' }, extra: { shown: { '': 'q' } }, turns: [turn('q')] });
    expect(await here().write(reference, first, always)).toMatchObject({ outcome: 'written', head: { revision: 1 } });
    const second = change({ updatedAtMs: nowMs + 1, turns: [turn('q', 'anew'), turn('r')] });
    await there().write(reference, second, always);
    expect(await here().readChat(reference, 0)).toEqual({
      head: { id: 'a', revision: 2, updatedAtMs: nowMs + 1, pinned: false, archived: false, fields: { title: 'Grüße' } },
      extra: { shown: { '': 'q' } },
      turns: [turn('q', 'anew'), turn('r')],
    });
    await here().write(reference, change({ turns: [turn('s')] }), always);
    expect((await there().readChat(reference, 2))?.turns).toEqual([turn('s')]);
    expect(await there().readChat({ ...reference, subject: 'other' }, 0)).toBeUndefined();
    expect(await there().delete({ ...reference, subject: 'other' }, undefined, nowMs)).toBe('absent');
  });

  it('lose no turn of two concurrent writers, and report changes in order', async () => {
    const reference = { subject: user(), id: 'a' };
    await here().write(reference, change(), always);
    const both = [here(), there()].map((store, nth) =>
      store.write(reference, change({ turns: [turn(`t${nth}`)] }), { ...bounds, condition: { etag: '1' } }),
    );
    const outcomes = (await Promise.all(both)).map(({ outcome }) => outcome);
    expect(outcomes.sort()).toEqual(['condition_failed', 'written']);
    const many = Array.from({ length: 20 }, (_, nth) => (nth % 2 === 0 ? here() : there()));
    await Promise.all(many.map((store, nth) => store.write({ ...reference, id: `c${nth}` }, change(), always)));
    const { changes, revision } = await here().readChanges(reference.subject, 2, 100);
    expect(changes.map((each) => each.revision)).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 3));
    expect(revision).toBe(22);
  });

  it('report changes in pages, including deletions, and start over if too many were missed', async () => {
    const subject = user();
    for (const id of ['a', 'b', 'c']) await here().write({ subject, id }, change(), always);
    expect(await there().delete({ subject, id: 'a' }, { etag: '7' }, nowMs)).toBe('condition_failed');
    expect(await there().delete({ subject, id: 'a' }, { etag: '1' }, nowMs)).toBe('deleted');
    const first = await here().readChanges(subject, 0, 2);
    expect([first.changes.map(({ id }) => id), first.hasMore, first.revision]).toEqual([['b', 'c'], true, 3]);
    const rest = { changes: [{ id: 'a', revision: 4, deleted: true }], hasMore: false, revision: 4, isGap: false };
    expect(await here().readChanges(subject, 3, 2)).toEqual(rest);
    await there().delete({ subject, id: 'b' }, undefined, nowMs + 91 * 24 * 3_600_000);
    expect(await here().readChanges(subject, 3, 10)).toMatchObject({ isGap: true });
    expect((await here().readChanges(subject, 4, 10)).changes).toMatchObject([{ id: 'b', deleted: true }]);
    await there().deleteAll(subject);
    expect(await here().readChanges(subject, 5, 10)).toEqual({ changes: [], revision: 6, hasMore: false, isGap: true });
    expect(await here().list(subject, { limit: 10, archived: false, after: undefined })).toMatchObject({ chats: [] });
  });

  it('are listed page by page with pinned chats first, and archived chats separately', async () => {
    const subject = user();
    const put = (id: string, more: Partial<ChatChange>) => here().write({ subject, id }, change(more), always);
    for (const [nth, id] of ['a', 'b', 'c', 'd', 'e'].entries()) await put(id, { updatedAtMs: nth < 2 ? 1 : nth });
    await put('a', { updatedAtMs: 1, pinned: true });
    await put('e', { updatedAtMs: 4, archived: true });
    const listed: string[] = [];
    let after: ChatCursor | undefined;
    do {
      const page = await there().list(subject, { limit: 2, archived: false, after });
      listed.push(page.chats.map(({ id }) => id).join(''));
      after = page.next;
    } while (after !== undefined);
    expect(listed).toEqual(['ad', 'cb']);
    const archived = await there().list(subject, { limit: 2, archived: true, after: undefined });
    expect(archived).toMatchObject({ chats: [{ id: 'e', archived: true }], next: undefined });
  });

  it('are found by all words of titles, tags, and turns', async () => {
    const subject = user();
    const put = (id: string, more: Partial<ChatChange>) => here().write({ subject, id }, change(more), always);
    await put('a', { fields: { title: 'Trip', tags: ['Work'] }, turns: [turn('q', 'To ROME by train')] });
    await put('b', { fields: { title: 'Rome' }, turns: Array.from({ length: 120 }, (_, nth) => turn(`t${nth}`, `no ${nth}`)) });
    const find = async (...words: string[]) =>
      (await there().search(subject, { words, limit: 10, archived: false, after: undefined })).chats.map(({ id }) => id);
    expect([await find('rome'), await find('rome', 'work'), await find('no 119'), await find('paris')]).toEqual([
      ['b', 'a'],
      ['a'],
      ['b'],
      [],
    ]);
    expect(await there().search('other', { words: ['rome'], limit: 1, archived: false, after: undefined })).toEqual({
      ...{ chats: [], next: undefined },
    });
  });

  it('are found in their current state after repeated searches and changes on other nodes', async () => {
    const subject = user();
    const [searching, writing] = [here(), there()];
    const put = (id: string, more: Partial<ChatChange>) => writing.write({ subject, id }, change(more), always);
    const find = async (word: string, archived = false) =>
      (await searching.search(subject, { words: [word], limit: 10, archived, after: undefined })).chats;
    for (const [nth, id] of ['a', 'b', 'c'].entries()) await put(id, { updatedAtMs: nth, turns: [turn('q', `tea ${id}`)] });
    const ids = async (word: string, archived = false) => (await find(word, archived)).map(({ id }) => id).join('');
    expect([await ids('tea'), await ids('tea'), await ids('coffee')]).toEqual(['cba', 'cba', '']);
    await put('a', { updatedAtMs: 9, pinned: true, fields: { title: 'Hot' }, turns: [turn('q', 'coffee')] });
    expect([await ids('tea'), await ids('coffee'), await find('hot')]).toMatchObject([
      'cb',
      'a',
      [{ pinned: true, updatedAtMs: 9, fields: { title: 'Hot' } }],
    ]);
    await put('b', { updatedAtMs: 1, archived: true });
    expect([await ids('tea'), await ids('tea', true)]).toEqual(['c', 'b']);
    await writing.delete({ subject, id: 'c' }, undefined, nowMs);
    await writing.deleteAll(user());
    expect([await ids('tea'), await ids('tea', true), await ids('coffee')]).toEqual(['', 'b', 'a']);
    await writing.delete({ subject, id: 'a' }, undefined, nowMs);
    await put('d', {});
    await writing.delete({ subject, id: 'd' }, undefined, nowMs + 91 * 24 * 3_600_000);
    expect([await ids('coffee'), await ids('tea', true)]).toEqual(['', 'b']);
    await searching.deleteAll(subject);
    expect([await ids('tea', true), await ids('coffee')]).toEqual(['', '']);
  });

  it('are found page by page, with equal results for a repeated search', async () => {
    const subject = user();
    for (let nth = 0; nth < 7; nth += 1)
      await here().write({ subject, id: `c${nth}` }, change({ updatedAtMs: nth, turns: [turn('q', 'word')] }), always);
    const store = there();
    const pages = async () => {
      const found: string[] = [];
      for (let after: ChatCursor | undefined, isMore = true; isMore; isMore = after !== undefined) {
        const page = await store.search(subject, { words: ['word'], limit: 3, archived: false, after });
        found.push(page.chats.map(({ id }) => id).join());
        after = page.next;
      }
      return found;
    };
    const expectedPages = ['c6,c5,c4', 'c3,c2,c1', 'c0'];
    expect(await pages()).toEqual(expectedPages);
    await store.search(subject, { words: ['nowhere'], limit: 3, archived: false, after: undefined });
    expect(await pages()).toEqual(expectedPages);
  });

  it('are no longer searched after the client disconnects', async () => {
    const subject = user();
    await here().write({ subject, id: 'a' }, change({ turns: [turn('q', 'word')] }), always);
    const query = { words: ['word'], limit: 3, archived: false, after: undefined };
    const store = there();
    const canceledSearch = store.search(subject, { ...query, signal: AbortSignal.abort(new Error('client disconnected')) });
    const next = store.search(subject, query);
    await expect(canceledSearch).rejects.toThrow('client disconnected');
    expect((await next).chats).toMatchObject([{ id: 'a' }]);
  });

  it('stay within their quota, which deletions release', async () => {
    const subject = user();
    const createHalfFull = (id: string) => ({
      place: { subject, id },
      change: change({ turns: [turn('q', 'x'.repeat(600_000))] }),
    });
    const write = ({ place: reference, change: written }: ReturnType<typeof createHalfFull>) =>
      here().write(reference, written, always);
    expect(await write(createHalfFull('a'))).toMatchObject({ outcome: 'written' });
    expect(await write(createHalfFull('a'))).toMatchObject({ outcome: 'written' });
    expect(await here().write({ subject, id: 'a' }, change({ turns: [turn('r', 'x'.repeat(600_000))] }), always)).toEqual({
      outcome: 'chat_full',
    });
    for (const id of ['b', 'c', 'd', 'e']) await write(createHalfFull(id));
    expect(await write(createHalfFull('f'))).toEqual({ outcome: 'user_full' });
    await here().delete({ subject, id: 'b' }, undefined, nowMs);
    expect(await write(createHalfFull('f'))).toMatchObject({ outcome: 'written' });
    // Changes that need no more space are possible after the quota was lowered.
    const bounds = { condition: undefined, maxBytesPerChat: 1_000, maxBytesPerUser: 1_000 };
    const shorten = (text: string) => here().write({ subject, id: 'f' }, change({ turns: [turn('q', text)] }), bounds);
    expect(await shorten('x'.repeat(500_000))).toMatchObject({ outcome: 'written' });
    expect(await shorten('x'.repeat(500_100))).toEqual({ outcome: 'chat_full' });
  });

  it('are stored without readable text', async () => {
    const subject = user();
    await here().write({ subject, id: 'a' }, change({ fields: { title: 'Secret' }, turns: [turn('q', 'hidden')] }), always);
    const rows = await node.database.run(async (kysely) => [
      await kysely.selectFrom('chats').selectAll().where('subject', '=', subject).execute(),
      await kysely.selectFrom('chat_turns').selectAll().where('subject', '=', subject).execute(),
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/secret|hidden/i);
  });
});
