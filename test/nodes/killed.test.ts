import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { hello } from '#test/chunks.ts';
import { sendRequest } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { type Cluster, get, healthOf, nodeOf, startCluster, toConfiguration } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const consentPath = '/v1/consent/app';
const forever = [{ role: 'user', content: '100000' }];

/** Accepts the form of today, and kills the node in the moment that the 200 is there. */
async function acceptAndKill(node: TestProcess): Promise<void> {
  const { consent } = (await get(node, consentPath)).json as { consent: ConsentForm };
  const { status } = await sendRequest(node.url, { path: consentPath, headers: withKey(), body: { consent } });
  process.kill(node.pid, 'SIGKILL');
  expect(status).toBe(200);
  expect((await node.ended).signal).toBe('SIGKILL');
}

describe('a node that is killed in the middle of streams', () => {
  let cluster: Cluster;
  let victim: TestProcess;
  let other: TestProcess;

  beforeAll(async () => {
    cluster = await startCluster(2);
    [victim, other] = [nodeOf(cluster, 0), nodeOf(cluster, 1)];
  });

  afterAll(() => cluster[Symbol.asyncDispose]());

  it('ends only its own streams, and loses no committed data', async () => {
    const { bucket } = (await get(victim, '/v1/bucket')).json as { bucket: string };
    const file = `/v1/files/${bucket}/kept.txt`;
    expect(
      (await victim.sendRequest({ method: 'PUT', path: file, headers: { 'api-key': callerKey }, body: 'kept' })).status,
    ).toBe(200);
    expect((await victim.chat('counted', { messages: hello })).status).toBe(200);
    const used = "select id from usage_records where deployment = 'counted'";
    await vi.waitFor(async () => expect(await cluster.query(used)).toHaveLength(1), { timeout: 5_000, interval: 100 });

    const lost = await Promise.all(Array.from({ length: 5 }, () => victim.stream('free', { messages: forever })));
    const kept = await Promise.all(
      Array.from({ length: 5 }, () => other.stream('free', { messages: [{ role: 'user', content: '50' }] })),
    );
    await Promise.all([...lost, ...kept].map((reader) => reader.next()));
    const requests = cluster.host.requests.filter(({ body }) => JSON.stringify(body.messages) === JSON.stringify(forever));
    await acceptAndKill(victim);

    for (const reader of lost) await expect(reader.readRest()).rejects.toThrow();
    for (const { closed } of requests) expect((await closed).early).toBe(true);
    for (const reader of kept) {
      const { content, isDone, error } = await reader.readRest();
      expect([content(), isDone, error]).toEqual(['x'.repeat(50), true, undefined]);
    }
    expect((await get(other, consentPath)).json).toEqual({ accepted: true });
    expect((await get(other, file)).text).toBe('kept');
    expect(await cluster.query(used)).toHaveLength(1);
    expect(await healthOf(other)).toMatchObject({ status: 'ok', ready: 200 });
  });

  it('leaves keys that are good for a minute at most', async () => {
    const node = await cluster.start();
    const index = cluster.host.requests.length;
    cluster.host.script(() => undefined);
    const calling = node.chat('app', { messages: hello }).catch(() => undefined);
    const { headers } = await cluster.host.request(index);
    const key = String(headers['api-key']);
    expect((await get(other, '/v1/user/info', key)).status).toBe(200);
    process.kill(node.pid, 'SIGKILL');
    await calling;
    const [, maker = ''] = /^parley-([\w-]{16})-/.exec(key) ?? [];
    const { Redis } = await import('ioredis');
    const redis = new Redis(cluster.redis.url);
    const leftMs = await redis.pttl(`parley:keys:${maker}`);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    // The rest of that minute at once.
    await redis.pexpire(`parley:keys:${maker}`, 1);
    await vi.waitFor(async () => expect((await get(other, '/v1/user/info', key)).status).toBe(401), 8_000);
    redis.disconnect();
  });
});

describe('a consent that was answered with 200', () => {
  it('is there after kill -9 at that moment, on one machine with SQLite', async () => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const configuration = toConfiguration('http://127.0.0.1:9');
    const start = () => startProcess({ configuration, flags: ['--data', folder] });
    await using started = new AsyncDisposableStack();
    let node = started.use(await start());
    for (let round = 0; round < 3; round += 1) {
      await acceptAndKill(node);
      node = started.use(await start());
      expect((await get(node, consentPath)).json).toEqual({ accepted: true });
      const gone = await node.sendRequest({ method: 'DELETE', path: consentPath, headers: { 'api-key': callerKey } });
      expect(gone.status).toBe(204);
    }
  });
});
