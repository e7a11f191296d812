import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { getBucket } from '#test/buckets.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { createPerRequestKeys, issuePerRequestKey } from '#test/per-request-keys.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
const own = getBucket('key:test');
const foreign = getBucket('key:other');
const dayMs = 24 * 3_600_000;

describe.each(['SQLite', 'PostgreSQL'] as const)('shared chats on %s', (engine) => {
  let database: ResponseDatabase;
  let service: TestService;
  let elsewhere: TestService;
  let nowMs = Date.parse('2026-11-20');
  const perRequestKeys = createPerRequestKeys();
  const audited: string[] = [];

  beforeAll(async () => {
    database = await openResponses(engine);
    const files = { index: new MemoryFileIndex(), blobs: new MemoryBlobs() };
    const clock = { epochMs: () => nowMs, monotonicMs: () => performance.now() };
    const recordAudit = ({ action, subject }: { action: string; subject: string | undefined }) =>
      void audited.push(`${action} ${subject}`);
    const start = () =>
      startService(
        { keys },
        { chats: database.chats(), shares: database.shares(), perRequestKeys, files, clock: clock as never, recordAudit },
      );
    [service, elsewhere] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await service.close();
    await elsewhere.close();
    await database[Symbol.asyncDispose]();
  });

  const send = (method: string, path: string, body?: unknown, key = callerKey): Promise<TestResponse> =>
    sendRequest(service.url, {
      ...{ method, path, body },
      headers: { 'api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    });
  const asOther = (path: string): Promise<TestResponse> =>
    sendRequest(elsewhere.url, { method: 'GET', path, headers: { 'api-key': 'other-key' } });
  const put = (path: string, text: string, key = callerKey) =>
    sendRequest(service.url, { method: 'PUT', path, body: text, headers: { 'api-key': key, 'content-type': 'text/plain' } });
  const codeOf = ({ status, json }: TestResponse) => [status, (json as { error: JsonObject }).error.code];
  const share = async (chat: string, body: object = {}): Promise<JsonObject & { token: string; id: string }> => {
    const made = await send('POST', `/v1/chats/${chat}/shares`, body);
    expect(made.status).toBe(201);
    return made.json as JsonObject & { token: string; id: string };
  };
  const gone = [404, 'share_not_found'];

  const question = (id: string, more: object = {}) => ({ id, parent: '', kind: 'question', atMs: 1, text: id, ...more });
  const reply = (id: string, parent: string, more: object = {}) => ({
    ...{ id, parent, kind: 'reply', atMs: 2, text: id, state: 'done', deployment: 'demo', custom: {}, stageTimes: {} },
    ...more,
  });

  it('are what was shown then, read by any user on any node, without what is the owner’s', async () => {
    const secret = { thoughts: 'secret', responseId: 'secret', usage: { secret: 1 }, fault: { message: 'secret' } };
    const custom = { state: { secret: 1 }, stages: [{ name: 'secret' }] };
    const odd = { control: { label: 1 }, filled: [{}] };
    const turns = [question('q', odd), reply('r', 'q', { ...secret, custom }), reply('hidden', 'q', { atMs: 3 })];
    await send('POST', '/v1/chats/a', { title: 'Trip', tags: ['secret'], settings: { instructions: 'secret' }, turns });
    await send('POST', '/v1/chats/a', { shown: { q: 'r' }, ratings: { r: { comment: 'secret' } } });
    const { token, ...made } = await share('a');
    expect(made).toMatchObject({ chat: 'a', title: 'Trip', files: 0, createdAtMs: nowMs, expiresAtMs: nowMs + 30 * dayMs });
    await send('POST', '/v1/chats/a', { title: 'Later', turns: [question('later', { parent: 'r', atMs: 9 })] });
    const opened = await asOther(`/v1/shared-chats/${token}`);
    expect(opened.json).toMatchObject({ from: 'key:test', title: 'Trip', turns: [{ id: 'q' }, { id: 'r', text: 'r' }] });
    const [first, ...others] = (opened.json as { turns: JsonObject[] }).turns;
    expect([first, others.length]).toEqual([question('q', { attachments: [] }), 1]);
    expect(JSON.stringify(opened.json)).not.toMatch(/secret|hidden|later/i);
    expect(opened.headers['cache-control']).toBe('private, no-store');
    expect(audited).toContain('chat.shared key:test');
  });

  it('show files of their owner, only those, and only as they were shared', async () => {
    for (const name of ['shown.txt', 'kept.txt', 'changed.txt', 'doomed.txt'])
      await put(`/v1/files/${own}/a/${name}`, `content of ${name}`);
    await put(`/v1/files/${foreign}/other.txt`, 'of another', 'other-key');
    const attachments = [
      { title: 'one', type: 'text/plain', url: `files/${own}/a/shown.txt`, reference_url: `files/${own}/a/kept.txt` },
      { title: 'changed', url: `files/${own}/a/changed.txt` },
      { title: 'doomed', url: `files/${own}/a/doomed.txt` },
      { title: 'of another', url: `files/${foreign}/other.txt` },
      { title: 'up', url: `files/${own}/a/../a/kept.txt` },
      { title: 'folder', url: `files/${own}/a/` },
      { title: 'bucket', url: `files/${own}` },
      { title: 'elsewhere', url: `conversations/${own}/x` },
      { title: 'another share', url: 'shared-chats/x/files/0', file: 0 },
      { title: 'web', url: 'https://example.com/x.png' },
      { title: 'inside', type: 'text/plain', data: 'here' },
    ];
    await send('POST', '/v1/chats/files', {
      turns: [question('q', { attachments }), reply('r', 'q', { custom: { attachments } })],
    });
    const { token, files } = await share('files');
    expect(files).toBe(3);
    const { turns } = (await asOther(`/v1/shared-chats/${token}`)).json as { turns: { attachments: JsonObject[] }[] };
    const base = `shared-chats/${token}/files`;
    const urls = [`${base}/0`, `${base}/1`, `${base}/2`, ...Array(6).fill(undefined), 'https://example.com/x.png', undefined];
    expect(turns[0]?.attachments.map(({ url }) => url)).toEqual(urls);
    expect(turns[1]).toMatchObject({
      custom: { attachments: [{ url: `${base}/0` }, {}, {}, {}, {}, {}, {}, {}, {}, {}, { data: 'here' }] },
    });
    expect(JSON.stringify(turns)).not.toContain(own);
    const read = await asOther(`/v1/${base}/0`);
    expect([read.status, read.text, read.headers['content-disposition']]).toMatchObject([
      200,
      'content of shown.txt',
      /attachment/,
    ]);
    await put(`/v1/files/${own}/a/changed.txt`, 'written later');
    await send('DELETE', `/v1/files/${own}/a/doomed.txt`);
    for (const nth of [
      '1',
      '2',
      '3',
      '-1',
      '0x0',
      '00000000',
      'length',
      '__proto__',
      '..%2F0',
      `..%2F..%2F..%2Ffiles%2F${own}%2Fa%2Fkept.txt`,
    ])
      expect([nth, ...codeOf(await asOther(`/v1/${base}/${nth}`))]).toEqual([nth, ...gone]);
    for (const name of ['shown.txt', 'kept.txt']) expect((await asOther(`/v1/files/${own}/a/${name}`)).status).toBe(403);
  });

  it('show only files that the user attached, or that the application which answered keeps', async () => {
    const kept = 'appdata/app/chart.txt';
    for (const path of ['a/mine.txt', 'private/salary.txt', kept, 'appdata/other/x.txt'])
      await put(`/v1/files/${own}/${path}`, `content of ${path}`);
    const attachmentsOf = (...paths: string[]) => paths.map((path) => ({ title: '', url: `files/${own}/${path}` }));
    const named = attachmentsOf('private/salary.txt', 'a/mine.txt', kept, 'appdata/other/x.txt');
    const attachments = [{ title: 'Mine', url: `files/${own}/a/mine.txt` }];
    await send('POST', '/v1/chats/named', {
      turns: [question('q', { attachments }), reply('r', 'q', { deployment: 'app', custom: { attachments: named } })],
    });
    const listed = await send('GET', '/v1/chats/named/shared-files');
    expect(listed.json).toEqual({
      object: 'list',
      data: [
        { path: 'a/mine.txt', title: 'Mine', from: 'question' },
        { path: kept, title: 'chart.txt', from: 'reply' },
      ],
    });
    const { token, files } = await share('named');
    expect(files).toBe(2);
    const { turns } = (await asOther(`/v1/shared-chats/${token}`)).json as { turns: [object, { custom: object }] };
    const urls = (turns[1].custom as { attachments: JsonObject[] }).attachments.map(({ url }) => url);
    expect(urls).toEqual([undefined, `shared-chats/${token}/files/0`, `shared-chats/${token}/files/1`, undefined]);
    expect((await send('GET', '/v1/chats/named/shared-files', undefined, 'other-key')).status).toBe(404);
  });

  it('are listed and revoked by their owner alone', async () => {
    await send('POST', '/v1/chats/mine', { title: 'Mine', turns: [question('q')] });
    const { id, token } = await share('mine', { expiresInDays: 7 });
    const listed = (await send('GET', '/v1/chat-shares')).json as { data: JsonObject[] };
    expect(listed.data.find((each) => each.id === id)).toEqual({
      ...{ id, chat: 'mine', title: 'Mine' },
      ...{ createdAtMs: nowMs, expiresAtMs: nowMs + 7 * dayMs },
    });
    expect(JSON.stringify(listed)).not.toContain(token);
    expect((await asOther('/v1/chat-shares')).json).toEqual({ object: 'list', data: [] });
    expect(codeOf(await send('DELETE', `/v1/chat-shares/${id}`, undefined, 'other-key'))).toEqual(gone);
    expect(codeOf(await send('POST', '/v1/chats/mine/shares', {}, 'other-key'))).toEqual([404, 'response_not_found']);
    expect((await asOther(`/v1/shared-chats/${token}`)).status).toBe(200);
    expect((await send('DELETE', `/v1/chat-shares/${id}`)).status).toBe(204);
    expect(codeOf(await asOther(`/v1/shared-chats/${token}`))).toEqual(gone);
    expect(codeOf(await send('DELETE', `/v1/chat-shares/${id}`))).toEqual(gone);
  });

  it('are gone with their time, with their chat, and with everything', async () => {
    for (const chat of ['day', 'deleted', 'all']) await send('POST', `/v1/chats/${chat}`, { turns: [question('q')] });
    const [day, deleted, all] = [await share('day', { expiresInDays: 1 }), await share('deleted'), await share('all')];
    nowMs += dayMs;
    expect(codeOf(await asOther(`/v1/shared-chats/${day.token}`))).toEqual(gone);
    await send('DELETE', '/v1/chats/deleted');
    expect(codeOf(await asOther(`/v1/shared-chats/${deleted.token}`))).toEqual(gone);
    await send('POST', '/v1/chats/deleted', { turns: [question('q')] });
    expect(codeOf(await asOther(`/v1/shared-chats/${deleted.token}`))).toEqual(gone);
    expect((await asOther(`/v1/shared-chats/${all.token}`)).status).toBe(200);
    await send('DELETE', '/v1/chats');
    expect(codeOf(await asOther(`/v1/shared-chats/${all.token}`))).toEqual(gone);
    const left = await database.database.run((kysely) => kysely.selectFrom('chat_shares').selectAll().execute());
    expect(left.filter(({ chat }) => chat !== 'day')).toEqual([]);
  });

  it('lie sealed, and without the token of their link', async () => {
    await send('POST', '/v1/chats/sealed', { title: 'Canary title', turns: [question('q', { text: 'Canary text' })] });
    const { token, id } = await share('sealed');
    const rows = await database.database.run((kysely) => kysely.selectFrom('chat_shares').selectAll().execute());
    expect(rows.map((row) => row.id)).toContain(id);
    expect(JSON.stringify(rows)).not.toContain('Canary');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('are open to nobody without a key, to no application, and to nobody who guesses', async () => {
    await send('POST', '/v1/chats/closed', { turns: [question('q')] });
    const { token } = await share('closed');
    const key = await issuePerRequestKey(perRequestKeys);
    for (const path of [`/v1/shared-chats/${token}`, `/v1/shared-chats/${token}/files/0`, '/v1/chat-shares']) {
      expect((await send('GET', path, undefined, 'unknown')).status).toBe(401);
      expect((await send('GET', path, undefined, key)).status).toBe(403);
    }
    expect((await send('POST', '/v1/chats/closed/shares', {}, key)).status).toBe(403);
    for (const guess of [token.slice(1), `${token}A`, token.toLowerCase(), 'A'.repeat(43), '%00'.repeat(43)])
      expect(codeOf(await asOther(`/v1/shared-chats/${guess}`))).toEqual(gone);
  });

  it.each([{ expiresInDays: 0 }, { expiresInDays: 366 }, { expiresInDays: 'x' }, { forever: true }])(
    'are refused with %o',
    async (body) => {
      await send('POST', '/v1/chats/refused', {});
      expect(codeOf(await send('POST', '/v1/chats/refused/shares', body))).toEqual([400, 'invalid_request']);
    },
  );

  it('are bounded in number and size', async () => {
    await send('POST', '/v1/chats/large', { turns: [question('q', { text: 'x'.repeat(9 * 1024 ** 2) })] });
    expect(codeOf(await send('POST', '/v1/chats/large/shares', {}))).toEqual([413, 'payload_too_large']);
    await send('DELETE', '/v1/chats');
    await send('POST', '/v1/chats/many', { turns: [question('q')] });
    for (let nth = 0; nth < 200; nth += 1) await share('many');
    expect(codeOf(await send('POST', '/v1/chats/many/shares', {}))).toEqual([413, 'payload_too_large']);
    nowMs += 31 * dayMs;
    await share('many');
  });

  it('lead nowhere while the operator does not want them', async () => {
    await send('POST', '/v1/chats/off', { turns: [question('q')] });
    const { token } = await share('off');
    const info = async () => (await send('GET', '/v1/user/info')).json;
    expect(await info()).toMatchObject({ sharesChats: true });
    for (const page of [{ sharing: false }, { conversations: 'browser' }]) {
      service.reload({ keys, page });
      expect(await info()).not.toHaveProperty('sharesChats');
      expect(codeOf(await send('GET', `/v1/shared-chats/${token}`))).toEqual([404, 'route_not_found']);
      expect(codeOf(await send('POST', '/v1/chats/off/shares', {}))).toEqual([404, 'route_not_found']);
    }
    service.reload({ keys });
    expect((await send('GET', `/v1/shared-chats/${token}`)).status).toBe(200);
  });
});
