import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { createPerRequestKeys, issuePerRequestKey } from '#test/per-request-keys.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };

describe.each(['SQLite', 'PostgreSQL'] as const)('chats on %s', (engine) => {
  let database: ResponseDatabase;
  let service: TestService;
  let otherNode: TestService;
  const perRequestKeys = createPerRequestKeys();

  beforeAll(async () => {
    database = await openResponses(engine);
    const start = () => startService({ keys }, { chats: database.chats(), perRequestKeys });
    [service, otherNode] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await service.close();
    await otherNode.close();
    await database[Symbol.asyncDispose]();
  });

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<TestResponse> =>
    sendRequest(service.url, {
      ...{ method, path, body },
      headers: { 'api-key': callerKey, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    });
  const createTurn = (id: string, text = id) => ({ id, parent: '', kind: 'question', atMs: 1, text, more: { kept: true } });
  const readJson = async (response: Promise<TestResponse>) => (await response).json as JsonObject;

  it('are written on one node, read on another, and list their changes since a revision', async () => {
    const created = await send(
      'POST',
      '/v1/chats/a',
      { title: 'One', shown: { '': 'q' }, turns: [createTurn('q')] },
      { 'if-none-match': '*' },
    );
    expect([created.status, created.headers.etag]).toEqual([200, `"${(created.json as JsonObject).revision}"`]);
    expect(
      await readJson(sendRequest(otherNode.url, { method: 'GET', path: '/v1/chats/a', headers: { 'api-key': callerKey } })),
    ).toMatchObject({
      ...{ id: 'a', title: 'One', shown: { '': 'q' }, pinned: false, archived: false, turns: [createTurn('q')] },
    });
    const { revision } = await readJson(send('GET', '/v1/chats'));
    await send('POST', '/v1/chats/a', { turns: [createTurn('r')] });
    await send('POST', '/v1/chats/b', {});
    expect((await send('DELETE', '/v1/chats/b')).status).toBe(204);
    const { data, revision: latest, ...flags } = await readJson(send('GET', `/v1/chat-changes?since=${revision}`));
    expect([data, flags]).toMatchObject([
      [
        { id: 'a', title: 'One' },
        { id: 'b', deleted: true },
      ],
      { hasMore: false, reset: false },
    ]);
    expect((await readJson(send('GET', `/v1/chat-changes?since=${latest}`))).data).toEqual([]);
    expect((await readJson(send('GET', `/v1/chats/a?since=${revision}`))).turns).toEqual([createTurn('r')]);
    expect(await readJson(send('GET', '/v1/chat-changes?since=999999'))).toMatchObject({ data: [], reset: true });
  });

  it('reject a write with an outdated ETag, and merge the turns when the client retries with the current one', async () => {
    const { headers } = await send('POST', '/v1/chats/both', { turns: [createTurn('q')] });
    const ifMatch = { 'if-match': String(headers.etag) };
    expect((await send('POST', '/v1/chats/both', { turns: [createTurn('mine')] }, ifMatch)).status).toBe(200);
    const rejected = await send('POST', '/v1/chats/both', { turns: [createTurn('yours')] }, ifMatch);
    expect([rejected.status, (rejected.json as { error: JsonObject }).error.code]).toEqual([412, 'precondition_failed']);
    const current = await send('GET', '/v1/chats/both');
    await send('POST', '/v1/chats/both', { turns: [createTurn('yours')] }, { 'if-match': String(current.headers.etag) });
    const { turns } = await readJson(send('GET', '/v1/chats/both'));
    expect((turns as JsonObject[]).map(({ id }) => id).sort()).toEqual(['mine', 'q', 'yours']);
    expect((await send('POST', '/v1/chats/both', {}, { 'if-none-match': '*' })).status).toBe(412);
    expect((await send('DELETE', '/v1/chats/both', undefined, ifMatch)).status).toBe(412);
  });

  it('are listed and searched, pinned chats first, archived chats separately, and are deleted together', async () => {
    await send('DELETE', '/v1/chats');
    await send('POST', '/v1/chats/x', { title: 'Trip', tags: ['Work'], updatedAtMs: 1, turns: [createTurn('q', 'To Rome')] });
    await send('POST', '/v1/chats/y', { title: 'Talk', updatedAtMs: 2 });
    await send('POST', '/v1/chats/x', { pinned: true, updatedAtMs: 1 });
    const listIds = async (query: string) =>
      ((await readJson(send('GET', `/v1/chats${query}`))).data as JsonObject[]).map(({ id }) => id);
    expect([await listIds(''), await listIds('?query=ROME%20work'), await listIds('?query=rome%20talk')]).toEqual([
      ['x', 'y'],
      ['x'],
      [],
    ]);
    const { data, nextToken } = await readJson(send('GET', '/v1/chats?limit=1'));
    expect([data, await listIds(`?limit=1&token=${nextToken}`)]).toMatchObject([[{ id: 'x' }], ['y']]);
    await send('POST', '/v1/chats/x', { archived: true });
    expect([await listIds(''), await listIds('?archived=true')]).toEqual([['y'], ['x']]);
    expect((await send('DELETE', '/v1/chats')).status).toBe(204);
    expect([await listIds(''), await listIds('?archived=true')]).toEqual([[], []]);
  });

  it('are found with an excerpt around the match if the client requests excerpts', async () => {
    const replyText = `${'before it '.repeat(40)}the **Needle** in the haystack ${'behind it '.repeat(40)}`;
    await send('POST', '/v1/chats/x', { title: 'Straw', turns: [createTurn('q', 'Where?'), createTurn('r', replyText)] });
    await send('POST', '/v1/chats/y', { title: 'Needle' });
    const search = async (query: string) => (await readJson(send('GET', `/v1/chats?query=${query}`))).data as JsonObject[];
    const lines = Object.fromEntries((await search('needle&excerpts=true')).map(({ id, excerpt }) => [id, excerpt]));
    expect(lines).toEqual({ x: expect.stringMatching(/^….*the Needle in the haystack.*…$/), y: undefined });
    expect((await search('needle')).map(({ excerpt }) => excerpt)).toEqual([undefined, undefined]);
    await send('DELETE', '/v1/chats');
  });

  it('are found by the names of files in questions and replies', async () => {
    const file = { type: 'application/pdf', url: 'files/bucket/1.pdf' };
    const attached = { ...createTurn('q', 'What is in it?'), attachments: [{ ...file, title: 'Budget 2027.pdf' }, { ...file }] };
    const created = { ...createTurn('r', 'Here.'), custom: { attachments: [{ ...file, title: 'Übersicht.xlsx' }] } };
    const odd = { ...createTurn('o', 'Odd.'), attachments: 'budget', custom: { attachments: [null, { title: 7 }] } };
    await send('POST', '/v1/chats/x', { title: 'Straw', turns: [attached, created] });
    await send('POST', '/v1/chats/y', { title: 'Other', turns: [odd] });
    const search = async (query: string) => {
      const path = `/v1/chats?excerpts=true&query=${encodeURIComponent(query)}`;
      const { data } = await readJson(send('GET', path));
      return (data as JsonObject[]).map(({ id, excerpt }) => [id, excerpt]);
    };
    expect(await search('budget')).toEqual([['x', 'Budget 2027.pdf']]);
    expect(await search('übersicht here')).toEqual([['x', 'Here.']]);
    await send('POST', '/v1/chats/x', { turns: [{ ...attached, attachments: [] }] });
    expect(await search('budget')).toEqual([]);
    await send('DELETE', '/v1/chats');
  });

  it('are searched for a word that almost occurs everywhere without blocking the event loop', async () => {
    const turns = Array.from({ length: 8 }, (_, nth) => createTurn(`q${nth}`, 'a'.repeat(1_000_000)));
    await send('POST', '/v1/chats/large', { turns });
    await send('POST', '/v1/chats/small', { turns: [createTurn('q', 'a'.repeat(500_000))] });
    const blockedMs = await measureMinEventLoopBlock(250, async () => {
      const { data } = await readJson(send('GET', `/v1/chats?excerpts=true&query=a+ab${'a'.repeat(490)}`));
      expect(data).toEqual([]);
    });
    expect(blockedMs).toBeLessThan(250);
    await send('DELETE', '/v1/chats');
  });

  it('are accessible only to their user and not to applications', async () => {
    await send('POST', '/v1/chats/own', { title: 'Own' });
    const otherHeaders = { 'api-key': 'other-key' };
    for (const [method, path] of [
      ['GET', '/v1/chats/own'],
      ['DELETE', '/v1/chats/own'],
    ] as const)
      expect((await send(method, path, undefined, otherHeaders)).status).toBe(404);
    expect((await readJson(send('GET', '/v1/chats', undefined, otherHeaders))).data).toEqual([]);
    const key = await issuePerRequestKey(perRequestKeys);
    expect((await send('GET', '/v1/chats', undefined, { 'api-key': key })).status).toBe(403);
    expect((await send('GET', '/v1/chats', undefined, { 'api-key': 'unknown' })).status).toBe(401);
  });

  it.each([
    [{ turns: [{ ...createTurn('q'), id: 'a b' }] }, 'turns[0].id'],
    [{ turns: [{ id: 'q' }] }, 'turns[0].parent'],
    [{ title: 1 }, 'title'],
    [{ tags: Array(21).fill('t') }, 'tags'],
    [{ updatedAtMs: -1 }, 'updatedAtMs'],
    [{ shown: { q: 1 } }, 'shown.q'],
    [{ note: 'x'.repeat(1024 ** 2) }, 'body'],
  ])('reject an invalid body with the path of the error: %#', async (body, param) => {
    const { status, json: answer } = await send('POST', '/v1/chats/bad', body);
    expect([status, (answer as { error: JsonObject }).error.param]).toEqual([400, param]);
  });

  it.each(['limit=0', 'limit=501', 'limit=x', 'token=x', 'archived=1', 'excerpts=1', `query=${'x'.repeat(501)}`])(
    'reject the query parameter %s',
    async (query) => {
      const { status, json: answer } = await send('GET', `/v1/chats?${query}`);
      expect([status, (answer as { error: JsonObject }).error.param]).toEqual([400, query.split('=')[0]]);
    },
  );

  it('reject a chat that is too large, and IDs with invalid characters', async () => {
    const large = await send('POST', '/v1/chats/large', { turns: [createTurn('q', 'x'.repeat(17 * 1024 ** 2))] });
    expect([large.status, (await send('GET', '/v1/chats/large')).status]).toEqual([413, 404]);
    expect((await send('POST', '/v1/chats/a.b', {})).status).toBe(404);
  });

  it('are not served if the page stores them in the browser', async () => {
    service.reload({ keys, page: { conversations: 'browser' } });
    expect((await send('GET', '/v1/chats')).status).toBe(404);
    service.reload({ keys });
    expect((await send('GET', '/v1/chats')).status).toBe(200);
  });
});
