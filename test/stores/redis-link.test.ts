import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { toErrorBody, toParleyError } from '#contract/errors/errors.ts';
import { StoreError } from '#domain/store-error.ts';
import { RedisLimitStore } from '#stores/redis/limit-store.ts';
import { RedisNodeBroadcast } from '#stores/redis/node-broadcast.ts';
import type { RedisLink } from '#stores/redis/redis-link.ts';
import { findFreePort } from '#test/listening.ts';
import { makeCertificates } from '#test/make-certificates.ts';
import { startRedis } from '#test/start-redis.ts';
import { openNode, type RedisServers, redisStarters } from './redis-support.ts';

const password = 'canary-password';
const increment = (link: RedisLink): Promise<number> => link.run((redis) => redis.incr('n'));

/** Returns the error of a step that must fail. */
async function getFailure(step: Promise<unknown>): Promise<{ error: unknown }> {
  const error = await step.then(
    () => expect.unreachable('the step succeeded'),
    (error: unknown) => error,
  );
  return { error };
}

describe('Redis link', () => {
  it('fails the step that waits for a stalled Redis, and then further steps immediately', async () => {
    await using redis = await startRedis();
    await using node = await openNode(redis);
    const info = await node.link.run((connection) => connection.info('server'));
    const pid = Number(/^process_id:(\d+)/m.exec(info)?.[1]);
    process.kill(pid, 'SIGSTOP');
    try {
      const first = await getFailure(increment(node.link));
      expect(first.error).toMatchObject({ message: expect.stringContaining('it did not answer in time') });
      const next = await getFailure(increment(node.link));
      expect(next.error).toMatchObject({ message: expect.stringContaining('it cannot be reached') });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await vi.waitFor(() => increment(node.link), 8_000);
  });

  it('is open without a server, and works once a server listens', async () => {
    const port = await findFreePort();
    await using node = await openNode({ url: `redis://127.0.0.1:${port}` });
    expect((await getFailure(increment(node.link))).error).toBeInstanceOf(StoreError);
    await using _redis = await startRedis('--port', String(port));
    expect(await vi.waitFor(() => increment(node.link), 5_000)).toBe(1);
  });

  it('returns 503 and the time to retry, without details', async () => {
    const url = `redis://:${password}@127.0.0.1:${await findFreePort()}`;
    await using node = await openNode({ url });
    const error = toParleyError((await getFailure(increment(node.link))).error);
    expect([error.status, error.retryAfterSeconds]).toEqual([503, 1]);
    expect(toErrorBody(error)).toEqual({
      error: {
        type: 'server_overloaded',
        code: 'overloaded',
        param: null,
        message: 'The store is currently unavailable: it cannot be reached. Try again.',
      },
    });
  });

  it('uses the user, password, and database of the URL', async () => {
    await using redis = await startRedis(
      '--requirepass',
      password,
      '--user',
      'parley',
      'on',
      `>${password}`,
      '~*',
      '&*',
      '+@all',
    );
    for (const [who, database] of [
      ['', 0],
      ['parley', 5],
    ] as const) {
      await using node = await openNode({ url: `redis://${who}:${password}@127.0.0.1:${redis.port}/${database}` });
      expect(await node.link.run((connection) => connection.client('INFO'))).toContain(` db=${database} `);
    }
  });

  it('reports a wrong password without the password', async () => {
    await using redis = await startRedis('--requirepass', 'another');
    await using node = await openNode({ url: `redis://:${password}@127.0.0.1:${redis.port}` });
    const { error } = await getFailure(increment(node.link));
    expect(error).toBeInstanceOf(StoreError);
    expect(node.reportedErrors.join('\n')).toMatch(/WRONGPASS.*Check the user and the password in PARLEY_REDIS_URL/);
    expect(node.reportedErrors.join('\n')).not.toContain(password);
  });

  it('names the address to use for a cluster and for a server', async () => {
    await using cluster = await startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await findFreePort()));
    await using redis = await startRedis();
    const cases = [
      [cluster.url, 'must start with redis-cluster://'],
      [redis.url.replace('redis:', 'redis-cluster:'), 'Start PARLEY_REDIS_URL with redis://'],
    ] as const;
    for (const [url, fix] of cases) {
      await using node = await openNode({ url });
      const { error } = await getFailure(increment(node.link));
      expect([...node.reportedErrors, String((error as StoreError).cause)].join()).toContain(fix);
    }
  });
});

describe('Redis link over TLS', () => {
  it('verifies the certificate and the host name, and errors name the fix', async () => {
    await using certificates = await makeCertificates();
    const { ca, otherCa, cert, key } = certificates;
    const port = await findFreePort();
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    await using _redis = await startRedis('--tls-port', String(port), ...files);
    const address = (name: string) => `rediss://${name}:${port}`;
    await using trusted = await openNode({ url: `${address('localhost')}?cacert=${ca}` });
    expect(await increment(trusted.link)).toBe(1);
    const cases = [
      [address('localhost'), 'Set cacert=FILE in PARLEY_REDIS_URL'],
      [`${address('localhost')}?cacert=${otherCa}`, 'Set cacert=FILE in PARLEY_REDIS_URL'],
      [`${address('127.0.0.1')}?cacert=${ca}`, 'Use a host name in PARLEY_REDIS_URL that'],
    ] as const;
    for (const [url, fix] of cases) {
      await using node = await openNode({ url });
      expect((await getFailure(increment(node.link))).error).toBeInstanceOf(StoreError);
      expect(node.reportedErrors.join()).toContain(fix);
    }
  });
});

describe.each(redisStarters)('link to %s', (_name, start) => {
  let redis: RedisServers;

  beforeAll(async () => {
    redis = await start();
  });

  afterAll(() => redis[Symbol.asyncDispose]());

  it('rejects each step immediately during an outage, and reconnects automatically', async () => {
    await using node = await openNode(redis);
    await increment(node.link);
    await redis.stop();
    const steps = Array.from({ length: 100 }, () => getFailure(increment(node.link)));
    for (const { error } of await Promise.all(steps)) {
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ message: expect.stringContaining('it cannot be reached') });
    }
    await vi.waitFor(() => expect(node.reportedErrors.join('\n')).toContain('Redis is unavailable'), 8_000);
    await redis.start();
    expect(await vi.waitFor(() => increment(node.link), 5_000)).toBe(1);
    // The servers of a cluster stop and start one after another, so their outage can be reported as several outages.
    const maxReports = redis.url.startsWith('redis-cluster:') ? 3 : 1;
    const reports = node.reportedErrors.filter((note) => note.startsWith('Redis is unavailable'));
    expect(reports.length).toBeLessThanOrEqual(maxReports);
  });

  it('never repeats a command that was in flight when the connection closed', async () => {
    await using node = await openNode(redis);
    await using other = await openNode(redis);
    const clients = async () => (await other.sendToAll((server) => server.client('LIST'))).join();
    const waiting = getFailure(node.link.run((connection) => connection.blpop('queue', 0)));
    await vi.waitFor(async () => expect(await clients()).toContain('cmd=blpop'), 8_000);
    await other.sendToAll((server) => server.call('CLIENT', 'KILL', 'TYPE', 'normal'));
    expect((await waiting).error).toBeInstanceOf(StoreError);
    await vi.waitFor(() => increment(node.link), 5_000);
    expect(await clients()).not.toContain('cmd=blpop');
  });

  it('does not report an outage if the process was too busy to read the answers', async () => {
    await using node = await openNode(redis);
    const before = await increment(node.link);
    const steps = [increment(node.link), node.link.transact((step) => step.set('{n}a', 1).set('{n}b', 2))];
    const fromMs = systemClock.nowMs();
    while (systemClock.nowMs() - fromMs < 2_500);
    expect(await Promise.all(steps)).toEqual([before + 1, undefined]);
    expect(node.link.isUnavailable).toBe(false);
  });

  it('needs only the rights that the documentation lists, and names a missing one', async () => {
    const rights = ['~parley:*', '&parley:*', '+@all', '-@dangerous', '+info', '+role'];
    await using administrator = await openNode(redis);
    for (const user of [
      ['parley', ...rights],
      ['limited', ...rights, '-hset'],
    ])
      await administrator.sendToAll((server) => server.call('ACL', 'SETUSER', ...user, 'on', `>${password}`));
    const open = (user: string) => openNode({ url: redis.url.replace('//', `//${user}:${password}@`) });
    await using node = await open('parley');
    await using other = await open('parley');
    const key = await node.keys.issue({ subject: 'key:p', project: 'p', roles: [], chain: null });
    expect(await other.keys.find(key)).toMatchObject({ subject: 'key:p' });
    const limits = new RedisLimitStore(node.link, systemClock);
    const window = { kind: 'requests', name: 'requests/day' } as never;
    const counter = { window, holder: 'p', total: 5, amount: 1, endsAtMs: systemClock.epochMs() + 1_000 } as never;
    expect(await limits.reserve([counter], [])).toMatchObject({ used: [0] });
    limits.close();
    const notices: string[] = [];
    new RedisNodeBroadcast(other.link).onNotice(({ text }) => notices.push(text));
    await vi.waitFor(async () => {
      await new RedisNodeBroadcast(node.link).publish({ topic: 'response', text: 'a' });
      expect(notices).toContain('a');
    });
    expect([...node.reportedErrors, ...other.reportedErrors]).toEqual([]);
    await using limited = await open('limited');
    const { error } = await getFailure(limited.keys.issue({ subject: 'key:p', project: 'p', roles: [], chain: null }));
    expect((error as StoreError).message).toContain('it does not permit a command of this node');
    expect(String((error as StoreError).cause)).toMatch(/hset.*docs\/deploy\.md/);
  });

  it('reports a full memory, and serves again when there is room', async () => {
    await using node = await openNode(redis);
    await node.sendToAll((server) => server.config('SET', 'maxmemory', '1'));
    expect((await getFailure(increment(node.link))).error).toMatchObject({
      message: expect.stringContaining('its memory is full'),
    });
    await node.sendToAll((server) => server.config('SET', 'maxmemory', '0'));
    expect(await increment(node.link)).toBeGreaterThan(0);
  });

  it('does not include commands in its errors', async () => {
    await using node = await openNode(redis);
    await node.link.run((connection) => connection.set('text', 'a'));
    const { error } = await getFailure(node.link.transact((step) => step.hset('text', 'canary-field', 'canary-value')));
    const { cause } = error as StoreError;
    expect(cause).toMatchObject({ message: expect.stringContaining('WRONGTYPE') });
    expect(JSON.stringify([error, cause, Object.entries(cause as object)])).not.toContain('canary');
  });

  describe('notices between nodes', () => {
    it('reach every other node, also after an outage, and not their sender', async () => {
      const nodes = [await openNode(redis), await openNode(redis), await openNode(redis)] as const;
      const receivedIds: string[][] = [[], [], []];
      const broadcasts = nodes.map(({ link }, index) => {
        const broadcast = new RedisNodeBroadcast(link);
        broadcast.onNotice(({ text }) => receivedIds[index]?.push(text));
        return broadcast;
      });
      const [first = expect.unreachable()] = broadcasts;
      const publish = (id: string) =>
        vi.waitFor(async () => {
          await first.publish({ topic: 'response', text: id });
          for (const others of receivedIds.slice(1)) expect(others.at(-1)).toBe(id);
        }, 8_000);
      await publish('one');
      await redis.stop();
      await expect(first.publish({ topic: 'response', text: 'lost' })).rejects.toThrow(StoreError);
      await redis.start();
      await publish('two');
      expect(receivedIds[0]).toEqual([]);
      for (const node of nodes) await node[Symbol.asyncDispose]();
    });

    it('are ignored if no node could have sent them', async () => {
      await using node = await openNode(redis);
      await using other = await openNode(redis);
      const receivedIds: string[] = [];
      new RedisNodeBroadcast(node.link).onNotice(({ text }) => receivedIds.push(text));
      const foreign = ['', 'null', '[]', '{"topic":"response"}', '{"topic":"other","text":"a"}', '{"__proto__":{}}', '{'];
      await vi.waitFor(async () => {
        for (const text of foreign) await other.link.publish('parley:notices:passing', text);
        await new RedisNodeBroadcast(other.link).publish({ topic: 'response', text: 'true' });
        expect(receivedIds.length).toBeGreaterThan(0);
      });
      expect(new Set(receivedIds)).toEqual(new Set(['true']));
    });

    it('with a failing listener are logged, and the next listener is called', async () => {
      await using node = await openNode(redis);
      await using other = await openNode(redis);
      const broadcast = new RedisNodeBroadcast(node.link);
      broadcast.onNotice(() => {
        throw new Error('no');
      });
      const receivedIds: string[] = [];
      broadcast.onNotice(({ text }) => receivedIds.push(text));
      await vi.waitFor(async () => {
        await new RedisNodeBroadcast(other.link).publish({ topic: 'response', text: 'a' });
        expect(receivedIds).toContain('a');
      });
      expect(node.reportedErrors).toContain('a message from another node could not be processed: no (undefined)');
    });
  });
});
