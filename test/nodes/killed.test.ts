import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { hello } from '#test/chunks.ts';
import { sendRequest } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { type Cluster, get, getHealth, getNode, startCluster, toConfiguration } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const consentPath = '/v1/consent/app';
const forever = [{ role: 'user', content: '100000' }];

/** Gives consent and kills the node as soon as the 200 arrives. */
async function acceptAndKill(node: TestProcess): Promise<void> {
  const { consent } = (await get(node, consentPath)).json as { consent: ConsentForm };
  const { status } = await sendRequest(node.url, { path: consentPath, headers: withKey(), body: { consent } });
  process.kill(node.pid, 'SIGKILL');
  expect(status).toBe(200);
  expect((await node.ended).signal).toBe('SIGKILL');
}

describe('node that is killed during streams', () => {
  let cluster: Cluster;
  let victim: TestProcess;
  let other: TestProcess;

  beforeAll(async () => {
    cluster = await startCluster(2);
    [victim, other] = [getNode(cluster, 0), getNode(cluster, 1)];
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

    const interruptedStreams = await Promise.all(Array.from({ length: 5 }, () => victim.stream('free', { messages: forever })));
    const otherStreams = await Promise.all(
      Array.from({ length: 5 }, () => other.stream('free', { messages: [{ role: 'user', content: '50' }] })),
    );
    await Promise.all([...interruptedStreams, ...otherStreams].map((reader) => reader.next()));
    const requests = cluster.host.requests.filter(({ body }) => JSON.stringify(body.messages) === JSON.stringify(forever));
    await acceptAndKill(victim);

    for (const reader of interruptedStreams) await expect(reader.readRest()).rejects.toThrow();
    for (const { closed } of requests) expect((await closed).early).toBe(true);
    for (const reader of otherStreams) {
      const { content, isDone, error } = await reader.readRest();
      expect([content(), isDone, error]).toEqual(['x'.repeat(50), true, undefined]);
    }
    expect((await get(other, consentPath)).json).toEqual({ accepted: true });
    expect((await get(other, file)).text).toBe('kept');
    expect(await cluster.query(used)).toHaveLength(1);
    expect(await getHealth(other)).toMatchObject({ status: 'ok', ready: 200 });
  });

  it('leaves per-request keys that expire after at most a minute', async () => {
    const node = await cluster.start();
    const index = cluster.host.requests.length;
    cluster.host.script(() => undefined);
    const call = node.chat('app', { messages: hello }).catch(() => undefined);
    const { headers } = await cluster.host.request(index);
    const key = String(headers['api-key']);
    expect((await get(other, '/v1/user/info', key)).status).toBe(200);
    process.kill(node.pid, 'SIGKILL');
    await call;
    const [, nodeId = ''] = /^parley-([\w-]{16})-/.exec(key) ?? [];
    const { Redis } = await import('ioredis');
    const redis = new Redis(cluster.redis.url);
    const remainingMs = await redis.pttl(`parley:keys:${nodeId}`);
    expect(remainingMs).toBeGreaterThan(0);
    expect(remainingMs).toBeLessThanOrEqual(60_000);
    // Expires the rest of the minute immediately.
    await redis.pexpire(`parley:keys:${nodeId}`, 1);
    await vi.waitFor(async () => expect((await get(other, '/v1/user/info', key)).status).toBe(401), 8_000);
    redis.disconnect();
  });
});

describe('consent that was answered with 200', () => {
  it('survives kill -9 at that moment, on one machine with SQLite', async () => {
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
      const deletion = await node.sendRequest({ method: 'DELETE', path: consentPath, headers: { 'api-key': callerKey } });
      expect(deletion.status).toBe(204);
    }
  });
});
