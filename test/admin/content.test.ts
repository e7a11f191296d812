import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Caches } from '#base/cache/bounded-cache.ts';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlCallContents } from '#stores/sql/journal/call-contents.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { type OpenJournal, openJournal } from '#telemetry/journal/open-journal.ts';
import { createLog } from '#telemetry/log.ts';
import { type NodeTelemetry, openTelemetry } from '#telemetry/node-telemetry.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { type AuditEvent, startService, type TestService } from '#test/start-service.ts';
import { report } from './support.ts';

/** Text that occurs only in the content of calls. */
const canary = 'canary-of-the-content';
const dayMs = 86_400_000;
const { signal } = new AbortController();

const configuration = (records: object) => ({
  records,
  models: {
    m: { upstreams: [{ protocol: 'demo' }] },
    closed: { upstreams: [{ protocol: 'demo' }], features: { recordsContent: false } },
  },
  applications: {
    quick: {
      applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
      applicationProperties: { model: 'm', instructions: 'Be brief.', temperature: 0 },
    },
  },
  keys: {
    'admin-key': { project: 'office', role: 'admin' },
    'auditor-key': { project: 'office', role: 'auditor' },
    'user-key': { project: 'user', role: 'staff' },
  },
});

const sqlite = await freshSqlite();
const audited: AuditEvent[] = [];
const exported: string[] = [];
let close: () => Promise<void>;
let database: SqlDatabase;
let contents: SqlCallContents;
let written: OpenJournal;
let collector: ScriptedUpstream;
let telemetry: NodeTelemetry;
let service: TestService;
const logged: string[] = [];

beforeAll(async () => {
  ({ database, close } = await sqlite.open());
  collector = await startScriptedUpstream(({ received, response }) => {
    exported.push(received.text);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', `${collector.url}/v1/traces`);
  const journal = new SqlJournal(database);
  contents = new SqlCallContents(database, new Seal([new Secret('a secret of this test')]));
  written = openJournal({ journal, contents, clock: systemClock, note: () => undefined, reportError: () => undefined });
  const lines = { write: (line: string) => void logged.push(line) };
  telemetry = await openTelemetry({
    ...{ env: process.env, clock: systemClock, caches: new Caches(), version: '1', secret: 'pepper', lines },
    log: createLog({ level: 'debug', sink: lines, secrets: () => [] }),
    live: { upstreams: () => [], queues: () => [], configurationErrors: () => 0 },
    listeners: [written.listener],
  });
  const admin = { journal, callContents: contents, readNode: () => report };
  service = await startService(configuration({}), { telemetry, admin, recordAudit: (event) => audited.push(event) });
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service.close();
  await telemetry.close();
  await collector.close();
  await close();
  await sqlite[Symbol.asyncDispose]();
});

function get(path: string, key = 'admin-key'): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } });
}

/** A call as `/v1/admin/calls/{id}` returns it. */
interface Call {
  readonly id: string;
  readonly at: number;
  readonly deployment: string;
  readonly content?: { readonly request: Json; readonly reply: Json | null; readonly isTruncated: boolean } | null;
}
type Json = Readonly<Record<string, unknown>>;

/** Sends a request and returns the calls that it made, the outermost last in time of its end. */
async function call(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<readonly Call[]> {
  const before = await listCalls();
  const { status } = await service.sendRequest({
    path,
    headers: { 'api-key': 'user-key', 'content-type': 'application/json', ...headers },
    body,
  });
  expect(status).toBe(200);
  const added = await vi.waitFor(async () => {
    await written.close();
    const calls = (await listCalls()).filter(({ id }) => before.every((each) => each.id !== id));
    expect(calls.some(({ deployment }) => deployment === (body as { model: string }).model)).toBe(true);
    return calls;
  });
  return Promise.all(added.map(async ({ id }) => (await get(`/v1/admin/calls/${id}`)).json as unknown as Call));
}

async function listCalls(): Promise<readonly Call[]> {
  return ((await get('/v1/admin/calls?limit=500')).json as { data: readonly Call[] }).data;
}

async function countRows(): Promise<number> {
  const tables = await database.run((kysely) =>
    sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name like 'call_contents%'`.execute(kysely),
  );
  let count = 0;
  for (const { name } of tables.rows) {
    const { rows } = await database.run((kysely) =>
      sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(kysely),
    );
    count += rows[0]?.n ?? 0;
  }
  return count;
}

const chat = '/v1/chat/completions';
const ask = (fields: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: `Say ${canary}` }], ...fields });

describe('without `records.content`', () => {
  it('no content is stored, and calls have none', async () => {
    const [one] = await call(chat, ask());
    expect(one?.content).toBeNull();
    expect([await countRows(), audited]).toEqual([0, []]);
  });
});

describe('with `records.content: sealed`', () => {
  beforeAll(() => service.reload(configuration({ content: 'sealed' })));

  it.each([
    ['a JSON reply', chat, ask()],
    ['a stream', chat, ask({ stream: true })],
    ['a message', '/msgapi/v1/messages', ask({ max_tokens: 100 })],
    ['a response', '/v1/responses', { model: 'm', input: `Say ${canary}` }],
  ])('the request and the reply of %s are stored in the format of chat completions', async (_name, path, body) => {
    const [one] = await call(path, body);
    expect(one?.content?.isTruncated).toBe(false);
    expect(one?.content?.request.messages).toMatchObject([{ role: 'user' }]);
    expect(JSON.stringify(one?.content?.request.messages)).toContain(canary);
    expect(one?.content?.reply?.choices).toMatchObject([{ message: { role: 'assistant' }, finish_reason: 'stop' }]);
    expect(JSON.stringify(one?.content?.reply)).toContain(canary);
  });

  it('the database and the log contain no plain text', async () => {
    const files = [sqlite.file, `${sqlite.file}-wal`].map((file) => readFile(file, 'latin1').catch(() => ''));
    const bytes = (await Promise.all(files)).join('');
    expect(await countRows()).toBeGreaterThan(0);
    expect(bytes).toContain('s1.');
    for (const text of [bytes, logged.join('')]) expect(text.includes(canary)).toBe(false);
  });

  it('spans contain the messages of the call', async () => {
    await call(chat, ask({ stream: true }));
    type Span = { readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[] };
    const attributes = await vi.waitFor(
      () => {
        const spans: readonly Span[] = exported.flatMap((text) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans);
        const span = spans.find((each) => each.attributes.some(({ key }) => key === 'gen_ai.output.messages'));
        return span?.attributes ?? expect.fail('no span has content yet');
      },
      { timeout: 20_000, interval: 100 },
    );
    const read = (key: string) => JSON.parse(attributes.find((each) => each.key === key)?.value.stringValue ?? 'null');
    expect(read('gen_ai.input.messages')).toEqual([{ role: 'user', parts: [{ type: 'text', content: `Say ${canary}` }] }]);
    expect(read('gen_ai.output.messages')).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: expect.stringContaining(canary) }], finish_reason: 'stop' },
    ]);
  });

  it.each([
    ['of a deployment that opts out', chat, ask({ model: 'closed' }), {}],
    ['of a client that opts out', chat, ask(), { 'x-parley-record-content': 'false' }],
    ['of a chat completion that is not to be stored', chat, ask({ store: false }), {}],
    ['of a response that is not to be stored', '/v1/responses', { model: 'm', input: canary, store: false }, {}],
    ['of the inner calls of a client that opts out', chat, ask({ model: 'quick' }), { 'x-parley-record-content': 'false' }],
  ])('the content %s is not stored', async (_name, path, body, headers) => {
    const before = await countRows();
    const calls = await call(path, body, headers as Record<string, string>);
    expect(calls.map(({ content }) => content)).toEqual(calls.map(() => null));
    expect(await countRows()).toBe(before);
  });

  it('the content of inner calls is stored with their own records', async () => {
    const calls = await call(chat, ask({ model: 'quick' }));
    expect(calls.map(({ deployment }) => deployment).sort()).toEqual(['m', 'quick']);
    for (const { content } of calls) expect(JSON.stringify(content?.reply)).toContain(canary);
  });

  it('long texts, files, and conversations are truncated, and the latest message is kept', async () => {
    service.reload(configuration({ content: 'sealed', maxContentBytes: 2048 }));
    const old = Array.from({ length: 100 }, () => ({ role: 'user', content: 'an old question' }));
    const parts = [
      { type: 'text', text: 'the last question' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(9000)}` } },
    ];
    const [one] = await call(chat, ask({ messages: [...old, { role: 'user', content: parts }] }));
    const messages = one?.content?.request.messages as readonly unknown[];
    expect(one?.content?.isTruncated).toBe(true);
    expect(messages[0]).toMatch(/^\[\d+ items truncated\]$/);
    expect(messages.at(-1)).toMatchObject({ content: [{ text: 'the last question' }, { type: 'image_url' }] });
    expect(JSON.stringify(one?.content?.request).length).toBeLessThan(3000);
    service.reload(configuration({ content: 'sealed' }));
  });

  it('only administrators read content, and the audit log records each reading', async () => {
    const [one] = await call(chat, ask());
    audited.length = 0;
    const path = `/v1/admin/calls/${one?.id}`;
    const auditor = await get(path, 'auditor-key');
    expect([auditor.status, auditor.json]).toEqual([
      200,
      expect.objectContaining({ object: 'call', user: 'key:user', status: 200 }),
    ]);
    expect(auditor.json).not.toHaveProperty('content');
    expect((await get(path, 'user-key')).status).toBe(403);
    expect(audited).toEqual([]);
    expect((await get(path)).json).toHaveProperty('content.reply');
    expect(audited).toMatchObject([
      { action: 'call.content_read', subject: 'key:office', object: one?.id, details: { user: 'key:user' } },
    ]);
  });

  it('an unknown call is not found', async () => {
    const { status, error } = await get('/v1/admin/calls/unknown');
    expect([status, error?.code]).toEqual([404, 'call_not_found']);
  });

  it('content is removed after its retention, while the record stays', async () => {
    const [one] = await call(chat, ask());
    const maintain = (days: number) =>
      contents.maintain({ nowMs: systemClock.epochMs() + days * dayMs, retentionDays: 7, signal });
    await maintain(7);
    expect(((await get(`/v1/admin/calls/${one?.id}`)).json as unknown as Call).content).not.toBeNull();
    await maintain(8);
    expect(((await get(`/v1/admin/calls/${one?.id}`)).json as unknown as Call).content).toBeNull();
    expect(await countRows()).toBe(0);
  });
});
