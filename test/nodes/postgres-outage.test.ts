import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { hello } from '#test/chunks.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startPostgres, type TestPostgres } from '#test/start-postgres.ts';
import type { TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { type Cluster, demoQuickApp, get, getHealth, getNode, startCluster } from './cluster.ts';
import { chatAt, createTask, type InnerResult } from './host.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let postgres: TestPostgres;
let cluster: Cluster;
let node: TestProcess;
let other: TestProcess;
let bucket: string;

beforeAll(async () => {
  postgres = await startPostgres();
  cluster = await startCluster(2, Promise.resolve(postgres));
  [node, other] = [getNode(cluster, 0), getNode(cluster, 1)];
  ({ bucket } = (await get(node, '/v1/bucket')).json as { bucket: string });
});

afterAll(() => cluster[Symbol.asyncDispose]());

const consentPath = '/v1/consent/app';

async function acceptConsent(): Promise<TestResponse> {
  const { consent } = (await get(node, consentPath)).json as { consent: ConsentForm };
  return sendRequest(node.url, { path: consentPath, headers: withKey(), body: { consent } });
}

function put(path: string, body: unknown): Promise<TestResponse> {
  return sendRequest(node.url, { method: 'PUT', path, headers: withKey(), body });
}

/** Returns the statuses of two inner calls of an application: to a model that requires consent, and to another model. */
async function getInnerStatuses(): Promise<readonly number[]> {
  const { completion } = await node.chat('app', { messages: createTask(chatAt(other, 'guarded'), chatAt(other, 'free')) });
  const results = JSON.parse(String(completion.choices[0]?.message.content)) as InnerResult[];
  return results.map(({ status }) => status);
}

function waitForHealthCodes(target: TestProcess, codes: readonly string[]): Promise<void> {
  return vi.waitFor(async () => expect((await getHealth(target)).codes).toEqual(codes), { timeout: 15_000, interval: 50 });
}

const demoCalls = "deployment = 'demo'";

async function countRows(table: string, where: string): Promise<number> {
  const [row] = await cluster.query(`select count(*)::int as n from ${table} where ${where}`);
  return Number(row?.n);
}

describe('nodes whose PostgreSQL is stopped', () => {
  beforeAll(async () => {
    await postgres.stop();
    // A node detects the outage on its first query.
    await Promise.all([node, other].map((each) => get(each, '/v1/consent')));
    await Promise.all([waitForHealthCodes(node, ['database_away']), waitForHealthCodes(other, ['database_away'])]);
    return async () => {
      await postgres.start();
      await Promise.all([waitForHealthCodes(node, []), waitForHealthCodes(other, [])]);
    };
  });

  it('reject requests that need the database immediately, with 503 and Retry-After', async () => {
    const form = { consent: { app: { consentRequired: false } } };
    const requests: readonly [string, () => Promise<TestResponse>][] = [
      ['read consents', () => get(node, '/v1/consent')],
      ['give consent', () => sendRequest(node.url, { path: '/v1/consent/app', headers: withKey(), body: form })],
      ['read a file', () => get(node, `/v1/files/${bucket}/one.txt`)],
      ['store a file', () => put(`/v1/files/${bucket}/one.txt`, 'one')],
      ['read an application', () => get(node, `/v1/applications/${bucket}/one`)],
      ['store an application', () => put(`/v1/applications/${bucket}/one`, demoQuickApp)],
      ['call an application', () => node.chat(`applications/${bucket}/one`, { messages: hello })],
    ];
    for (const [what, step] of requests) {
      const { status, error, headers } = await step();
      if (what === 'give consent' && status === 409) continue;
      expect([what, status, error.code, headers['retry-after']]).toEqual([what, 503, 'overloaded', '1']);
      expect(error.message).toBe('The store is currently unavailable: the database cannot be reached. Try again.');
    }
  });

  it('stay ready, serve other calls, and reject only inner calls that require consent', async () => {
    expect((await getHealth(node)).ready).toBe(200);
    expect((await node.chat('free', { messages: hello })).status).toBe(200);
    expect((await node.chat('bounded', { messages: hello })).status).toBe(200);
    expect((await node.chat('guarded', { messages: hello })).status).toBe(200);
    expect((await (await node.stream('free', { messages: hello })).readRest()).isDone).toBe(true);
    expect(await getInnerStatuses()).toEqual([503, 200]);
  });
});

describe('nodes whose PostgreSQL is available again', () => {
  it('have all committed data, and write the usage records of the outage', async () => {
    expect((await acceptConsent()).status).toBe(200);
    expect((await put(`/v1/files/${bucket}/kept.txt`, 'kept')).status).toBe(200);
    expect((await put(`/v1/applications/${bucket}/kept`, demoQuickApp)).status).toBe(201);
    const before = await countRows('usage_records', demoCalls);
    await postgres.stop();
    for (let call = 0; call < 5; call += 1) expect((await node.chat('demo', { messages: hello })).status).toBe(200);
    await node.untilOutput(/cannot write usage records/);
    await postgres.start();
    const expectWritten = async () => expect(await countRows('usage_records', demoCalls)).toBe(before + 5);
    await vi.waitFor(expectWritten, { timeout: 15_000, interval: 100 });
    await node.untilOutput(/resumed writing usage records\. 0 were lost/);
    await waitForHealthCodes(other, []);
    expect(await getInnerStatuses()).toEqual([200, 200]);
    expect((await get(other, consentPath)).json).toEqual({ accepted: true });
    expect((await get(other, `/v1/files/${bucket}/kept.txt`)).text).toBe('kept');
    expect((await get(other, `/v1/applications/${bucket}/kept`)).status).toBe(200);
    await vi.waitFor(async () => expect(await countRows('audit_records', "action = 'consent.accepted'")).toBe(1), 5_000);
  });

  it('log each outage and its end once', async () => {
    const outages = node.output.stdout.match(/the shared database is unreachable/g)?.length ?? 0;
    expect(outages).toBeGreaterThan(0);
    expect(outages).toBeLessThanOrEqual(3);
    expect(node.output.stdout.match(/the shared database is reachable again/g)).toHaveLength(outages);
    const { password } = new URL(postgres.url);
    for (const { output } of cluster.nodes) expect(output.stdout + output.stderr).not.toContain(password);
  });
});

describe('nodes whose PostgreSQL stalls', () => {
  it('wait until the time limit, then reject immediately, and recover automatically', async () => {
    const pids = (await cluster.query("select pid from pg_stat_activity where application_name = 'parley'")).map(({ pid }) =>
      Number(pid),
    );
    const [first = expect.unreachable()] = pids;
    const parent = Number(/^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${first}/status`, 'utf8'))?.[1]);
    for (const pid of [parent, ...pids]) process.kill(pid, 'SIGSTOP');
    try {
      const waiting = Promise.all(Array.from({ length: 30 }, () => get(node, '/v1/consent')));
      expect((await node.chat('free', { messages: hello })).status).toBe(200);
      expect(new Set((await waiting).map(({ status }) => status))).toEqual(new Set([503]));
      await waitForHealthCodes(node, ['database_away']);
      const rejection = await get(node, '/v1/consent');
      expect([rejection.status, rejection.error.message]).toEqual([
        503,
        expect.stringContaining('the database cannot be reached'),
      ]);
    } finally {
      for (const pid of [parent, ...pids]) process.kill(pid, 'SIGCONT');
    }
    await waitForHealthCodes(node, []);
    expect((await get(node, '/v1/consent')).status).toBe(200);
  });
});

describe('node that shuts down normally', () => {
  it('writes its pending usage records', async () => {
    const stoppingNode = await cluster.start();
    const before = await countRows('usage_records', demoCalls);
    await Promise.all(Array.from({ length: 20 }, () => stoppingNode.chat('demo', { messages: hello })));
    stoppingNode.kill('SIGTERM');
    expect((await stoppingNode.ended).code).toBe(0);
    expect(await countRows('usage_records', demoCalls)).toBe(before + 20);
  });
});
