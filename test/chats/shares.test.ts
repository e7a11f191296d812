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
const ownBucket = getBucket('key:test');
const otherBucket = getBucket('key:other');
const dayMs = 24 * 3_600_000;

describe.each(['SQLite', 'PostgreSQL'] as const)('shared chats on %s', (engine) => {
  let database: ResponseDatabase;
  let service: TestService;
  let otherNode: TestService;
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
    [service, otherNode] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await service.close();
    await otherNode.close();
    await database[Symbol.asyncDispose]();
  });

  const send = (method: string, path: string, body?: unknown, key = callerKey): Promise<TestResponse> =>
    sendRequest(service.url, {
      ...{ method, path, body },
      headers: { 'api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    });
  const getAsOther = (path: string): Promise<TestResponse> =>
    sendRequest(otherNode.url, { method: 'GET', path, headers: { 'api-key': 'other-key' } });
  const put = (path: string, text: string, key = callerKey) =>
    sendRequest(service.url, { method: 'PUT', path, body: text, headers: { 'api-key': key, 'content-type': 'text/plain' } });
  const getStatusAndCode = ({ status, json }: TestResponse) => [status, (json as { error: JsonObject }).error.code];
  const share = async (chat: string, body: object = {}): Promise<JsonObject & { token: string; id: string }> => {
    const response = await send('POST', `/v1/chats/${chat}/shares`, body);
    expect(response.status).toBe(201);
    return response.json as JsonObject & { token: string; id: string };
  };
  const notFound = [404, 'share_not_found'];

  const question = (id: string, fields: object = {}) => ({ id, parent: '', kind: 'question', atMs: 1, text: id, ...fields });
  const reply = (id: string, parent: string, fields: object = {}) => ({
    ...{ id, parent, kind: 'reply', atMs: 2, text: id, state: 'done', deployment: 'demo', custom: {}, stageTimes: {} },
    ...fields,
  });

  it('contain the visible turns at the time of sharing, without private data, and are readable by any user on any node', async () => {
    const secretFields = { thoughts: 'secret', responseId: 'secret', usage: { secret: 1 }, fault: { message: 'secret' } };
    const custom = { state: { secret: 1 }, stages: [{ name: 'secret' }] };
    const unknownFields = { control: { label: 1 }, filled: [{}] };
    const turns = [question('q', unknownFields), reply('r', 'q', { ...secretFields, custom }), reply('hidden', 'q', { atMs: 3 })];
    await send('POST', '/v1/chats/a', { title: 'Trip', tags: ['secret'], settings: { instructions: 'secret' }, turns });
    await send('POST', '/v1/chats/a', { shown: { q: 'r' }, ratings: { r: { comment: 'secret' } } });
    const { token, ...created } = await share('a', { deploymentNames: { demo: 'Demo Model', other: 'Hidden' } });
    expect(created).toMatchObject({ chat: 'a', title: 'Trip', files: 0, createdAtMs: nowMs, expiresAtMs: nowMs + 30 * dayMs });
    await send('POST', '/v1/chats/a', { title: 'Later', turns: [question('later', { parent: 'r', atMs: 9 })] });
    const sharedChat = await getAsOther(`/v1/shared-chats/${token}`);
    expect(sharedChat.json).toMatchObject({
      from: 'key:test',
      title: 'Trip',
      turns: [{ id: 'q' }, { id: 'r', deploymentName: 'Demo Model' }],
    });
    const [first, ...rest] = (sharedChat.json as { turns: JsonObject[] }).turns;
    expect([first, rest.length]).toEqual([question('q', { attachments: [] }), 1]);
    expect(JSON.stringify(sharedChat.json)).not.toMatch(/secret|hidden|later/i);
    expect(sharedChat.headers['cache-control']).toBe('private, no-store');
    expect(audited).toContain('chat.shared key:test');
  });

  it('name no deployment for an answer that the owner stored without one', async () => {
    await send('POST', '/v1/chats/nameless', { title: 'x', turns: [question('q'), reply('r', 'q', { deployment: 5 })] });
    const { token } = await share('nameless');
    const { json } = await getAsOther(`/v1/shared-chats/${token}`);
    expect(json).toMatchObject({ turns: [{ id: 'q' }, { id: 'r', deployment: '' }] });
  });

  it('are created with If-Match only while the chat has the revision of its shared files', async () => {
    await send('POST', '/v1/chats/seen', { title: 'Seen', turns: [question('q')] });
    const { revision } = (await send('GET', '/v1/chats/seen/shared-files')).json as { revision: number };
    const shareIfMatch = (etag: string): Promise<TestResponse> =>
      sendRequest(service.url, {
        ...{ method: 'POST', path: '/v1/chats/seen/shares', body: {} },
        headers: { 'api-key': callerKey, 'content-type': 'application/json', 'if-match': etag },
      });
    expect((await shareIfMatch(`"${revision}"`)).status).toBe(201);
    await send('POST', '/v1/chats/seen', { title: 'Seen', turns: [question('later', { parent: 'q', atMs: 9 })] });
    expect(getStatusAndCode(await shareIfMatch(`"${revision}"`))).toEqual([412, 'precondition_failed']);
    expect((await shareIfMatch('*')).status).toBe(201);
  });

  it('have the title of the visible first question, unless the user named the chat', async () => {
    const turns = [question('Replaced', { text: ' Secret\nplan ' }), question('Present', { atMs: 2 })];
    await send('POST', '/v1/chats/titled', { title: 'Secret plan', turns });
    expect((await send('GET', '/v1/chats/titled/shared-files')).json).toMatchObject({ title: 'Present' });
    const { token, title } = await share('titled');
    expect(title).toBe('Present');
    expect((await getAsOther(`/v1/shared-chats/${token}`)).json).toMatchObject({ title: 'Present' });
    await send('POST', '/v1/chats/titled', { title: 'Secret plan', shown: { '': 'Replaced' } });
    expect((await share('titled')).title).toBe('Secret plan');
    await send('POST', '/v1/chats/titled', { title: 'Trip', shown: {} });
    expect((await share('titled')).title).toBe('Trip');
  });

  it('grant access only to files of their owner, and only to the version that was shared', async () => {
    for (const name of ['shown.txt', 'kept.txt', 'changed.txt', 'doomed.txt'])
      await put(`/v1/files/${ownBucket}/a/${name}`, `content of ${name}`);
    await put(`/v1/files/${otherBucket}/other.txt`, 'of another', 'other-key');
    const attachments = [
      { title: 'one', type: 'text/plain', url: `files/${ownBucket}/a/shown.txt`, reference_url: `files/${ownBucket}/a/kept.txt` },
      { title: 'changed', url: `files/${ownBucket}/a/changed.txt` },
      { title: 'doomed', url: `files/${ownBucket}/a/doomed.txt` },
      { title: 'of another', url: `files/${otherBucket}/other.txt` },
      { title: 'up', url: `files/${ownBucket}/a/../a/kept.txt` },
      { title: 'folder', url: `files/${ownBucket}/a/` },
      { title: 'bucket', url: `files/${ownBucket}` },
      { title: 'elsewhere', url: `conversations/${ownBucket}/x` },
      { title: 'another share', url: 'shared-chats/x/files/0', file: 0 },
      { title: 'web', url: 'https://example.com/x.png' },
      { title: 'inside', type: 'text/plain', data: 'here' },
    ];
    await send('POST', '/v1/chats/files', {
      turns: [question('q', { attachments }), reply('r', 'q', { custom: { attachments } })],
    });
    const { token, files } = await share('files');
    expect(files).toBe(3);
    const { turns } = (await getAsOther(`/v1/shared-chats/${token}`)).json as { turns: { attachments: JsonObject[] }[] };
    const base = `shared-chats/${token}/files`;
    const urls = [`${base}/0`, `${base}/1`, `${base}/2`, ...Array(6).fill(undefined), 'https://example.com/x.png', undefined];
    expect(turns[0]?.attachments.map(({ url }) => url)).toEqual(urls);
    expect(turns[1]).toMatchObject({
      custom: { attachments: [{ url: `${base}/0` }, {}, {}, {}, {}, {}, {}, {}, {}, {}, { data: 'here' }] },
    });
    expect(JSON.stringify(turns)).not.toContain(ownBucket);
    const read = await getAsOther(`/v1/${base}/0`);
    expect([read.status, read.text, read.headers['content-disposition']]).toMatchObject([
      200,
      'content of shown.txt',
      /attachment/,
    ]);
    await put(`/v1/files/${ownBucket}/a/changed.txt`, 'written later');
    await send('DELETE', `/v1/files/${ownBucket}/a/doomed.txt`);
    for (const index of [
      '1',
      '2',
      '3',
      '-1',
      '0x0',
      '00000000',
      'length',
      '__proto__',
      '..%2F0',
      `..%2F..%2F..%2Ffiles%2F${ownBucket}%2Fa%2Fkept.txt`,
    ])
      expect([index, ...getStatusAndCode(await getAsOther(`/v1/${base}/${index}`))]).toEqual([index, ...notFound]);
    for (const name of ['shown.txt', 'kept.txt']) expect((await getAsOther(`/v1/files/${ownBucket}/a/${name}`)).status).toBe(403);
  });

  it('contain only files that the user attached or that the replying application stored', async () => {
    const storedPath = 'appdata/app/chart.txt';
    for (const path of ['a/mine.txt', 'private/salary.txt', storedPath, 'appdata/other/x.txt'])
      await put(`/v1/files/${ownBucket}/${path}`, `content of ${path}`);
    const toAttachments = (...paths: string[]) => paths.map((path) => ({ title: '', url: `files/${ownBucket}/${path}` }));
    const replyAttachments = toAttachments('private/salary.txt', 'a/mine.txt', storedPath, 'appdata/other/x.txt');
    const attachments = [{ title: 'Mine', url: `files/${ownBucket}/a/mine.txt` }];
    await send('POST', '/v1/chats/named', {
      turns: [question('q', { attachments }), reply('r', 'q', { deployment: 'app', custom: { attachments: replyAttachments } })],
    });
    const list = await send('GET', '/v1/chats/named/shared-files');
    expect(list.json).toEqual({
      object: 'list',
      title: '',
      revision: expect.any(Number),
      data: [
        { path: 'a/mine.txt', title: 'Mine', from: 'question' },
        { path: storedPath, title: 'chart.txt', from: 'reply' },
      ],
    });
    const { token, files } = await share('named');
    expect(files).toBe(2);
    const { turns } = (await getAsOther(`/v1/shared-chats/${token}`)).json as { turns: [object, { custom: object }] };
    const urls = (turns[1].custom as { attachments: JsonObject[] }).attachments.map(({ url }) => url);
    expect(urls).toEqual([undefined, `shared-chats/${token}/files/0`, `shared-chats/${token}/files/1`, undefined]);
    expect((await send('GET', '/v1/chats/named/shared-files', undefined, 'other-key')).status).toBe(404);
  });

  it('are listed and revoked only by their owner', async () => {
    await send('POST', '/v1/chats/mine', { title: 'Mine', turns: [question('q')] });
    const { id, token } = await share('mine', { expiresInDays: 7 });
    const list = (await send('GET', '/v1/chat-shares')).json as { data: JsonObject[] };
    expect(list.data.find((listedShare) => listedShare.id === id)).toEqual({
      ...{ id, chat: 'mine', title: 'Mine' },
      ...{ createdAtMs: nowMs, expiresAtMs: nowMs + 7 * dayMs },
    });
    expect(JSON.stringify(list)).not.toContain(token);
    expect((await getAsOther('/v1/chat-shares')).json).toEqual({ object: 'list', data: [] });
    expect(getStatusAndCode(await send('DELETE', `/v1/chat-shares/${id}`, undefined, 'other-key'))).toEqual(notFound);
    expect(getStatusAndCode(await send('POST', '/v1/chats/mine/shares', {}, 'other-key'))).toEqual([404, 'response_not_found']);
    expect((await getAsOther(`/v1/shared-chats/${token}`)).status).toBe(200);
    expect((await send('DELETE', `/v1/chat-shares/${id}`)).status).toBe(204);
    expect(getStatusAndCode(await getAsOther(`/v1/shared-chats/${token}`))).toEqual(notFound);
    expect(getStatusAndCode(await send('DELETE', `/v1/chat-shares/${id}`))).toEqual(notFound);
  });

  it('are deleted when they expire, when their chat is deleted, and when all chats are deleted', async () => {
    for (const chat of ['day', 'deleted', 'all']) await send('POST', `/v1/chats/${chat}`, { turns: [question('q')] });
    const [day, deleted, all] = [await share('day', { expiresInDays: 1 }), await share('deleted'), await share('all')];
    nowMs += dayMs;
    expect(getStatusAndCode(await getAsOther(`/v1/shared-chats/${day.token}`))).toEqual(notFound);
    await send('DELETE', '/v1/chats/deleted');
    expect(getStatusAndCode(await getAsOther(`/v1/shared-chats/${deleted.token}`))).toEqual(notFound);
    await send('POST', '/v1/chats/deleted', { turns: [question('q')] });
    expect(getStatusAndCode(await getAsOther(`/v1/shared-chats/${deleted.token}`))).toEqual(notFound);
    expect((await getAsOther(`/v1/shared-chats/${all.token}`)).status).toBe(200);
    await send('DELETE', '/v1/chats');
    expect(getStatusAndCode(await getAsOther(`/v1/shared-chats/${all.token}`))).toEqual(notFound);
    const remaining = await database.database.run((kysely) => kysely.selectFrom('chat_shares').selectAll().execute());
    expect(remaining.filter(({ chat }) => chat !== 'day')).toEqual([]);
  });

  it('are encrypted in the database, which does not store the token of their link', async () => {
    await send('POST', '/v1/chats/sealed', { title: 'Canary title', turns: [question('q', { text: 'Canary text' })] });
    const { token, id } = await share('sealed');
    const rows = await database.database.run((kysely) => kysely.selectFrom('chat_shares').selectAll().execute());
    expect(rows.map((row) => row.id)).toContain(id);
    expect(JSON.stringify(rows)).not.toContain('Canary');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('reject requests without a valid key, from applications, and with a guessed token', async () => {
    await send('POST', '/v1/chats/closed', { turns: [question('q')] });
    const { token } = await share('closed');
    const key = await issuePerRequestKey(perRequestKeys);
    for (const path of [`/v1/shared-chats/${token}`, `/v1/shared-chats/${token}/files/0`, '/v1/chat-shares']) {
      expect((await send('GET', path, undefined, 'unknown')).status).toBe(401);
      expect((await send('GET', path, undefined, key)).status).toBe(403);
    }
    expect((await send('POST', '/v1/chats/closed/shares', {}, key)).status).toBe(403);
    for (const guess of [token.slice(1), `${token}A`, token.toLowerCase(), 'A'.repeat(43), '%00'.repeat(43)])
      expect(getStatusAndCode(await getAsOther(`/v1/shared-chats/${guess}`))).toEqual(notFound);
  });

  it.each([{ expiresInDays: 0 }, { expiresInDays: 366 }, { expiresInDays: 'x' }, { forever: true }])(
    'reject the options %o',
    async (body) => {
      await send('POST', '/v1/chats/refused', {});
      expect(getStatusAndCode(await send('POST', '/v1/chats/refused/shares', body))).toEqual([400, 'invalid_request']);
    },
  );

  it('have limits for their size and for their number', async () => {
    await send('POST', '/v1/chats/large', { turns: [question('q', { text: 'x'.repeat(9 * 1024 ** 2) })] });
    expect(getStatusAndCode(await send('POST', '/v1/chats/large/shares', {}))).toEqual([413, 'payload_too_large']);
    await send('DELETE', '/v1/chats');
    await send('POST', '/v1/chats/many', { turns: [question('q')] });
    for (let index = 0; index < 200; index += 1) await share('many');
    expect(getStatusAndCode(await send('POST', '/v1/chats/many/shares', {}))).toEqual([413, 'payload_too_large']);
    nowMs += 31 * dayMs;
    await share('many');
  });

  it('return 404 while the configuration disables sharing', async () => {
    await send('POST', '/v1/chats/off', { turns: [question('q')] });
    const { token } = await share('off');
    const info = async () => (await send('GET', '/v1/user/info')).json;
    expect(await info()).toMatchObject({ sharesChats: true });
    for (const page of [{ sharing: false }, { conversations: 'browser' }]) {
      service.reload({ keys, page });
      expect(await info()).not.toHaveProperty('sharesChats');
      expect(getStatusAndCode(await send('GET', `/v1/shared-chats/${token}`))).toEqual([404, 'route_not_found']);
      expect(getStatusAndCode(await send('POST', '/v1/chats/off/shares', {}))).toEqual([404, 'route_not_found']);
    }
    service.reload({ keys });
    expect((await send('GET', `/v1/shared-chats/${token}`)).status).toBe(200);
  });
});
