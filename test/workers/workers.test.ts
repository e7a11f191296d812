import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { hello } from '#test/chunks.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { openStream, sendRequest, type TestResponse } from '#test/send-request.ts';
import { runCommand, startProcess, type TestProcess } from '#test/start-process.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { expectAdmitted, get, toConfiguration } from '../nodes/cluster.ts';
import { answerAsHost, chatAt, createTask, type InnerResult } from '../nodes/host.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const workerCount = 4;
/** Requests on separate connections that reach several workers with near certainty. */
const many = 24;

let host: ScriptedUpstream;
let node: TestProcess;

function toNodeConfiguration(models: object = {}): object {
  const base = toConfiguration(host.url) as { models: object; keys: object; roles: object };
  const sharedOut = { upstreams: [{ endpoint: `${host.url}/v1` }] };
  return {
    ...base,
    models: { ...base.models, 'shared-out': sharedOut, ...models },
    keys: {
      ...base.keys,
      narrow: { project: 'narrow', totals: { maxParallel: 3 } },
      wide: { project: 'wide', totals: { maxParallel: 200 } },
      boss: { project: 'boss', role: 'admin' },
      sharer: { project: 'sharer', role: 'staff' },
    },
    roles: { ...base.roles, staff: { limits: { 'shared-out': { day: 1_000_000_000, requestDay: 100_000 } } } },
  };
}

beforeAll(async () => {
  host = await startScriptedUpstream(answerAsHost);
  node = await startProcess({ configuration: toNodeConfiguration(), flags: ['--workers', String(workerCount)] });
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await host.close();
});

function repeat<Value>(send: () => Promise<Value>, count = many): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, send));
}

/** Returns the statuses without duplicates. */
async function getStatuses(send: () => Promise<TestResponse>): Promise<number[]> {
  return [...new Set((await repeat(send)).map(({ status }) => status))];
}

function callWithKey(key: string, deployment = 'free'): Promise<TestResponse> {
  return sendRequest(node.url, { path: getChatPath(deployment), headers: withKey(key), body: { messages: hello } });
}

async function countStatuses(deployment: string, key: string, count: number): Promise<Record<number, number>> {
  const sums: Record<number, number> = {};
  for (const { status } of await repeat(() => callWithKey(key, deployment), count)) sums[status] = (sums[status] ?? 0) + 1;
  return sums;
}

function listWorkers({ pid }: TestProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

async function readHealth(of = node): Promise<{ status: string; reasons: { code: string }[] }> {
  return (await get(of, '/health')).json as { status: string; reasons: { code: string }[] };
}

async function listModels(): Promise<string> {
  return (await get(node, '/v1/models')).text;
}

describe('a node with 4 workers', () => {
  it.each([
    ['requests', 'bounded', 'caller-key', 30],
    ['tokens', 'crowded', 'other', 50],
    ['cost', 'priced', 'crowd', 50],
  ])('admits exactly as many of 500 concurrent calls as the limit of %s allows', async (_kind, deployment, key, admitted) => {
    await expectAdmitted(admitted, () => countStatuses(deployment, key, 500));
  });

  it('counts the calls of all workers against a limit that is shared out', async () => {
    await repeat(() => callWithKey('sharer', 'shared-out'), 200);
    const stats = (await get(node, '/v1/deployments/shared-out/limits', 'sharer')).json as Record<string, { used: number }>;
    expect([stats.dayTokenStats?.used, stats.dayRequestStats?.used]).toEqual([200 * 12, 200]);
  });

  it.each([
    ['narrow', 3],
    ['wide', 200],
  ])('admits exactly as many calls in progress of the key %s as its maxParallel of %i', async (key, maxParallel) => {
    const body = { messages: [{ role: 'user', content: '200' }], stream: true };
    const send = () => openStream(node.url, { path: getChatPath('free'), headers: withKey(key), body });
    const streams = await repeat(send, maxParallel + many);
    const sums = streams.map(({ status }) => status);
    expect(sums.filter((status) => status === 200)).toHaveLength(maxParallel);
    expect(sums.filter((status) => status === 429)).toHaveLength(many);
    for (const stream of streams) stream.disconnect();
    await vi.waitFor(async () => {
      const statuses = (await repeat(() => callWithKey(key), maxParallel)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200]));
    }, 20_000);
  });

  it('accepts a per-request key in every worker, and attributes the usage to its call', async () => {
    const requests = Array.from({ length: many }, () => chatAt(node, 'free'));
    const answer = await node.chat('app', { messages: createTask(...requests) });
    const results = JSON.parse(answer.completion.choices[0]?.message.content as string) as InnerResult[];
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]));
    expect(JSON.stringify(answer.json)).toContain(`"total_tokens":${many * 12}`);
    expect(await getStatuses(() => callWithKey(`parley-w1-${'x'.repeat(43)}`))).toEqual([401]);
    expect(await getStatuses(() => callWithKey(`parley-w999-${'x'.repeat(43)}`))).toEqual([401]);
  });

  it('knows a consent in every worker immediately', async () => {
    const path = '/v1/consent/app';
    const { consent } = (await get(node, path)).json as { consent: ConsentForm };
    expect((await node.sendRequest({ path, headers: withKey(), body: { consent } })).status).toBe(200);
    const texts = (await repeat(() => get(node, path))).map(({ text }) => text);
    expect(new Set(texts)).toEqual(new Set(['{"accepted":true}']));
  });

  it('uses a key of an administrator in every worker until it is deleted', async () => {
    const headers = { ...withKey('boss'), 'content-type': 'application/json' };
    const created = await node.sendRequest({ path: '/v1/admin/keys', headers, body: { project: 'robot' } });
    expect(created.status).toBe(201);
    const { id, key } = created.json as { id: string; key: string };
    expect(await getStatuses(() => callWithKey(key))).toEqual([200]);
    expect((await node.sendRequest({ method: 'DELETE', path: `/v1/admin/keys/${id}`, headers })).status).toBe(204);
    expect(await getStatuses(() => callWithKey(key))).toEqual([401]);
  });

  it('returns the sums of all workers in /metrics', async () => {
    const count = async (): Promise<number> => {
      const { text } = await get(node, '/metrics');
      const found = /^gen_ai_server_request_duration_seconds_count\{[^}]*model="demo"[^}]*\} (\d+)$/m.exec(text);
      return Number(found?.[1] ?? 0);
    };
    const before = await count();
    await repeat(() => callWithKey('caller-key', 'demo'));
    // A worker that is too busy to report in time counts with its previous figures.
    await vi.waitFor(async () => expect(new Set(await repeat(count, 8))).toEqual(new Set([before + many])), 60_000);
  });

  it('reloads the configuration in every worker, and keeps it if the next one is wrong', async () => {
    await node.configure(toNodeConfiguration({ added: { upstreams: [{ protocol: 'demo' }] } }));
    node.kill('SIGHUP');
    await vi.waitFor(async () => {
      for (const text of await repeat(listModels)) expect(text).toContain('"added"');
    }, 20_000);
    await node.configure('{ wrong');
    await vi.waitFor(async () => {
      for (const health of await repeat(readHealth, 8)) expect(health.reasons[0]?.code).toBe('configuration_refused');
    }, 20_000);
    for (const text of await repeat(listModels)) expect(text).toContain('"added"');
  });

  it('replaces a worker that is killed, and breaks no call of another one', async () => {
    const streamCount = 40;
    // Several streams of 3 s in each worker. The configuration files are wrong, so the replacement uses the configuration in force.
    const body = { messages: [{ role: 'user', content: '150' }], stream: true };
    const streams = await repeat(() => node.stream('free', body), streamCount);
    const [victim = 0] = listWorkers(node);
    process.kill(victim, 'SIGKILL');
    const isComplete = await Promise.all(
      streams.map((stream) =>
        stream.readRest().then(
          ({ isDone }) => isDone,
          () => false,
        ),
      ),
    );
    const completed = isComplete.filter(Boolean).length;
    expect([completed > 0, completed < streamCount]).toEqual([true, true]);
    await vi.waitFor(async () => {
      expect((await readHealth()).reasons.map(({ code }) => code)).toEqual(['configuration_refused']);
    }, 20_000);
    expect(listWorkers(node)).toHaveLength(workerCount);
    for (const text of await repeat(listModels)) expect(text).toContain('"added"');
    expect(node.output.stdout).toContain('a worker ended, another one replaces it');
  });

  it('writes complete lines, and ends with exit code 0 after its open calls', async () => {
    const streams = await repeat(() => node.stream('free', { messages: [{ role: 'user', content: '20' }], stream: true }), 8);
    node.kill('SIGTERM');
    for (const stream of streams) expect((await stream.readRest()).isDone).toBe(true);
    const { code, stdout } = await node.ended;
    expect(code).toBe(0);
    for (const line of stdout.trim().split('\n')) if (!line.startsWith('Parley listens')) JSON.parse(line);
    expect(stdout.match(/"msg":"call"/g)?.length).toBeGreaterThan(1_500);
  });
});

describe('parley serve --workers 2', () => {
  it('serves a configuration with many keys', async () => {
    const names = Array.from({ length: 15_000 }, (_, index) => `key-${index}`);
    const keys = Object.fromEntries(names.map((name) => [name, { project: name, roles: ['staff'], costLimit: { month: 10 } }]));
    const configuration = { models: { demo: { upstreams: [{ protocol: 'demo' }] } }, keys };
    await using large = await startProcess({ configuration, flags: ['--workers', '2'] });
    const call = () =>
      sendRequest(large.url, { path: getChatPath('demo'), headers: withKey('key-7'), body: { messages: hello } });
    expect(await getStatuses(call)).toEqual([200]);
    expect(large.output.stderr).toBe('');
  });

  it('replaces a worker that does not answer for 30 s', async () => {
    await using stopped = await startProcess({ configuration: toNodeConfiguration(), flags: ['--workers', '2'] });
    const [victim = 0, other = 0] = listWorkers(stopped);
    process.kill(victim, 'SIGSTOP');
    try {
      await vi.waitFor(() => expect(stopped.output.stdout).toContain('replaces it: it did not answer for 30 s'), 60_000);
    } finally {
      // A stopped worker would hold the output of the node open.
      if (isAlive(victim)) process.kill(victim, 'SIGCONT');
    }
    await vi.waitFor(async () => expect((await readHealth(stopped)).status).toBe('ok'), 20_000);
    expect(listWorkers(stopped)).toEqual([other, expect.any(Number)]);
    expect(await getStatuses(() => stopped.chat('demo', { messages: hello }))).toEqual([200]);
  }, 120_000);

  it('reports a wrong configuration or an occupied port once, and ends with exit code 1', async () => {
    await using folder = await openFolder();
    const data = ['--data', folder.path, '--workers', '2'];
    const wrong = await runCommand(['serve', '--config', 'package.json', '--port', '0', ...data]);
    expect([wrong.code, wrong.stderr.match(/parley: the configuration is invalid/g)?.length]).toEqual([1, 1]);
    await using other = await startProcess({ configuration: null, flags: ['--workers', '2'] });
    const occupied = await runCommand(['serve', '--port', new URL(other.url).port, ...data]);
    expect([occupied.code, occupied.stderr]).toEqual([1, expect.stringMatching(/^parley: port \d+ of 127.0.0.1 is in use.*\n$/)]);
    const [key = ''] = /parley-[\w-]{20,}/.exec(other.output.stdout) ?? [];
    const call = () => sendRequest(other.url, { path: getChatPath('demo'), headers: withKey(key), body: { messages: hello } });
    expect(await getStatuses(call)).toEqual([200]);
    const workers = listWorkers(other);
    other.kill('SIGKILL');
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), 10_000);
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
