import { describe, expect, it, vi } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };

const roles = {
  default: { limits: { tokens: { month: 1000 }, requests: { requestDay: 2 } }, costLimit: { month: 1 } },
};

/** `test` is the project of the key. */
const projects = { test: { costLimit: { year: 1 }, reset: { dayOfMonth: 31, timeZone: 'Pacific/Apia' } } };

/** Longer than the save interval of the counters. */
const saveMs = 1000;

interface Storage {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

function start(endpoint: string, { flags, environment }: Storage): Promise<TestProcess> {
  const upstreams = [{ endpoint }];
  const models = {
    tokens: { upstreams },
    requests: { upstreams },
    money: { upstreams, pricing: { prompt: 0.001, completion: 0.001 } },
  };
  return startProcess({ configuration: { models, roles, projects }, flags, environment });
}

async function getStorage(engine: 'SQLite' | 'PostgreSQL', folder: string, database: TestDatabase): Promise<Storage> {
  const environment = { PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: 'a secret of this test, of 32 characters' };
  return { flags: ['--data', folder], environment: engine === 'SQLite' ? {} : environment };
}

const getChatStatus = async (node: TestProcess, model: string): Promise<number> =>
  (await node.chat(model, { messages: hello })).status;

async function readProject(node: TestProcess): Promise<unknown> {
  const { json } = await node.sendRequest({ method: 'GET', path: '/v1/deployments/money/limits', headers: withKey() });
  return (json as { scopes: unknown }).scopes;
}

async function readUsed(node: TestProcess, model: string): Promise<Record<string, number>> {
  const { json } = await node.sendRequest({ method: 'GET', path: `/v1/deployments/${model}/limits`, headers: withKey() });
  const { scopes: _scopes, ...windows } = json as Record<string, { used: number; total: number | null }>;
  return Object.fromEntries(
    Object.entries(windows)
      .filter(([, { total }]) => total !== null)
      .map(([name, { used }]) => [name, used]),
  );
}

describe.each(['SQLite', 'PostgreSQL'] as const)('limits of a node without Redis, with %s', (engine) => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('still apply after %s and a restart', async (signal) => {
    await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi', { usage })));
    await using folder = await openFolder();
    await using database = await createFreshDatabase();
    const storage = await getStorage(engine, folder.path, database);
    await using first = await start(upstream.endpoint, storage);
    expect(await getChatStatus(first, 'tokens')).toBe(200);
    expect([await getChatStatus(first, 'requests'), await getChatStatus(first, 'requests')]).toEqual([200, 200]);
    expect(await getChatStatus(first, 'money')).toBe(200);
    await vi.waitUntil(async () => (await readUsed(first, 'money')).monthCostStats === 1.05);
    if (signal === 'SIGKILL') await new Promise((resolve) => setTimeout(resolve, saveMs));
    first.kill(signal);
    await first.ended;
    await using second = await start(upstream.endpoint, storage);
    expect(await readUsed(second, 'tokens')).toEqual({ monthTokenStats: 1050, monthCostStats: 1.05 });
    expect(await readUsed(second, 'requests')).toEqual({ dayRequestStats: 2, monthCostStats: 1.05 });
    expect(await readProject(second)).toMatchObject([{ of: 'project:test', window: 'cost.year', used: 1.05, remaining: 0 }]);
    const statuses = ['tokens', 'requests', 'money'].map((model) => getChatStatus(second, model));
    expect(await Promise.all(statuses)).toEqual([429, 429, 429]);
  });

  it('still apply after three restarts, and count each call once', async () => {
    await using upstream = await startScriptedUpstream(
      jsonReply(plainCompletion('hi', { usage: { prompt_tokens: 300, completion_tokens: 0, total_tokens: 300 } })),
    );
    await using folder = await openFolder();
    await using database = await createFreshDatabase();
    const storage = await getStorage(engine, folder.path, database);
    for (const used of [0, 300, 600]) {
      await using node = await start(upstream.endpoint, storage);
      expect((await readUsed(node, 'tokens')).monthTokenStats).toBe(used);
      expect(await getChatStatus(node, 'tokens')).toBe(200);
      await vi.waitUntil(async () => (await readUsed(node, 'tokens')).monthTokenStats === used + 300);
      node.kill('SIGTERM');
      await node.ended;
    }
  });
});
