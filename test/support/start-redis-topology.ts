import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findFreePort } from './listening.ts';
import type { TestCertificates } from './make-certificates.ts';
import { startRedis, startSentinelServer, type TestRedis } from './start-redis.ts';

/** A server of a topology. The client is for the test. */
interface Member extends AsyncDisposable {
  readonly port: number;
  readonly client: Redis;
  /** Ends the server without a chance to save or hand over anything. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** By default, a primary waits 5 s for further replicas before it sends its data. */
const noSyncDelay = ['--repl-diskless-sync-delay', '0'];
const pollMs = 50;
const maxPolls = 400;

async function waitUntil(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    if (await isDone().catch(() => false)) return;
    await sleep(pollMs);
  }
  throw new Error(`Redis: ${what} took too long`);
}

async function startMember(...flags: readonly string[]): Promise<Member> {
  return toMember(await startRedis(...flags));
}

function toMember(server: TestRedis): Member {
  const client = new Redis(server.port, '127.0.0.1', { retryStrategy: () => 100 });
  client.on('error', () => undefined);
  return {
    port: server.port,
    client,
    async kill() {
      const pid = Number(/^process_id:(\d+)/m.exec(await client.info('server'))?.[1]);
      client.disconnect();
      process.kill(pid, 'SIGKILL');
      await server.stop();
    },
    stop: () => server.stop(),
    start: () => server.start(),
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A real Redis Cluster: three primaries, by default with a replica each. */
export interface TestRedisCluster extends AsyncDisposable {
  /** `redis-cluster://…` with two of the nodes. */
  readonly url: string;
  /** Returns the running primary that serves the key. */
  findPrimary(key: string): Promise<Member>;
  /** Moves the slot of the key to another primary. `duringMove` runs while keys of the slot are on both. */
  moveSlot(key: string, duringMove: () => Promise<void>): Promise<void>;
  /** Stops all servers, which deletes their data. */
  stop(): Promise<void>;
  /** Starts all servers again without data. Each has its slots. */
  start(): Promise<void>;
}

const primaryCount = 3;
const slotCount = 16_384;
const nodeTimeoutMs = 1_000;

interface RedisClusterOptions {
  /** With certificates, nodes also accept TLS and announce the host name `localhost`. */
  readonly certificates?: Pick<TestCertificates, 'ca' | 'cert' | 'key'>;
  /** Whether each primary has a replica. Without replicas, a primary fails after a minute, not a second. Default: true. */
  readonly hasReplicas?: boolean;
}

export async function startRedisCluster({
  certificates,
  hasReplicas = true,
}: RedisClusterOptions = {}): Promise<TestRedisCluster> {
  const tlsPorts: number[] = [];
  const toTlsFlags = async (): Promise<readonly string[]> => {
    if (certificates === undefined) return [];
    const port = await findFreePort();
    tlsPorts.push(port);
    return [
      ...['--tls-port', String(port), '--tls-cert-file', certificates.cert, '--tls-key-file', certificates.key],
      // Without TLS between the nodes, Redis 7.0 announces its plain ports only.
      ...['--tls-ca-cert-file', certificates.ca, '--tls-cluster', 'yes', '--tls-replication', 'yes'],
      ...[
        '--tls-auth-clients',
        'no',
        '--cluster-announce-hostname',
        'localhost',
        '--cluster-preferred-endpoint-type',
        'hostname',
      ],
    ];
  };
  const start = async () =>
    startMember(
      ...['--cluster-enabled', 'yes', '--cluster-port', String(await findFreePort())],
      ...(await toTlsFlags()),
      ...noSyncDelay,
      ...['--cluster-node-timeout', String(nodeTimeoutMs), '--cluster-replica-validity-factor', '0'],
    );
  const members = await Promise.all(Array.from({ length: hasReplicas ? 2 * primaryCount : primaryCount }, start));
  const primaries = members.slice(0, primaryCount);
  const [first = failed()] = primaries;
  const busPorts = await Promise.all(members.map(({ client }) => client.config('GET', 'cluster-port')));
  for (const [index, { client }] of primaries.entries()) {
    const toSlot = (position: number): number => Math.floor((position * slotCount) / primaryCount);
    await client.cluster('ADDSLOTSRANGE', toSlot(index), toSlot(index + 1) - 1);
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const [index, { port }] of members.entries()) {
    await first.client.call('CLUSTER', 'MEET', '127.0.0.1', port, String((busPorts[index] as string[])[1]));
  }
  const countKnown = async ({ client }: Member) => (await client.cluster('SLOTS')).length;
  for (const member of members) await waitUntil('the cluster', async () => (await countKnown(member)) === primaryCount);
  for (const [index, { client }] of members.slice(primaryCount).entries()) {
    const id = await primaries[index]?.client.cluster('MYID');
    await waitUntil('a replica', async () => (await client.cluster('REPLICATE', String(id))) === 'OK');
  }
  const waitUntilServed = async (): Promise<void> => {
    for (const { client } of members) {
      await waitUntil('the cluster', async () => (await client.cluster('INFO')).includes('cluster_state:ok'));
      // With this timeout from the start, the servers would wait longer before they serve.
      if (!hasReplicas) await client.config('SET', 'cluster-node-timeout', 60_000);
    }
  };
  await waitUntilServed();
  for (const { client } of members.slice(primaryCount))
    await waitUntil('the replication', async () => (await client.info('replication')).includes('master_link_status:up'));
  const findPrimary = async (key: string): Promise<Member> => {
    for (const member of members) {
      if (member.client.status !== 'ready' || !(await member.client.info('replication')).includes('role:master')) continue;
      const isHere = await member.client.exists(key).then(
        () => true,
        () => false,
      );
      if (isHere) return member;
    }
    return failed();
  };
  return {
    url:
      certificates === undefined
        ? `redis-cluster://${members
            .slice(1, 3)
            .map(({ port }) => `127.0.0.1:${port}`)
            .join(',')}`
        : `rediss-cluster://${tlsPorts
            .slice(1, 3)
            .map((port) => `localhost:${port}`)
            .join(',')}?cacert=${certificates.ca}`,
    findPrimary,
    async moveSlot(key, duringMove) {
      const slot = await first.client.cluster('KEYSLOT', key);
      const source = await findPrimary(key);
      const target = primaries.find(({ client, port }) => client.status === 'ready' && port !== source.port) ?? failed();
      const [sourceId, targetId] = await Promise.all([source, target].map(({ client }) => client.cluster('MYID')));
      await target.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(sourceId));
      await source.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(targetId));
      const moveKeys = async (count: number): Promise<number> => {
        const keys = (await source.client.call('CLUSTER', 'GETKEYSINSLOT', slot, count)) as string[];
        if (keys.length > 0) await source.client.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', ...keys);
        return keys.length;
      };
      await moveKeys(1);
      await duringMove();
      while ((await moveKeys(100)) > 0);
      for (const { client } of [target, source]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(targetId));
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
    },
    async start() {
      await Promise.all(members.map((member) => member.start()));
      await waitUntilServed();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
    },
  };
}

/** A primary with a replica, and a sentinel that monitors them. */
export interface TestSentinel extends AsyncDisposable {
  /** `redis-sentinel://…` */
  readonly url: string;
  readonly primary: Member;
  /** Resolves when the sentinel reports another primary. */
  waitForFailover(): Promise<void>;
}

export async function startSentinel(): Promise<TestSentinel> {
  const primary = await startMember(...noSyncDelay);
  const replica = await startMember('--replicaof', '127.0.0.1', String(primary.port), ...noSyncDelay);
  await waitUntil('the replication', async () => (await replica.client.info('replication')).includes('master_link_status:up'));
  const settings = [
    'protected-mode no',
    `sentinel monitor main 127.0.0.1 ${primary.port} 1`,
    ...['sentinel down-after-milliseconds main 500', 'sentinel failover-timeout main 3000'],
  ];
  const sentinel = toMember(await startSentinelServer(settings));
  const getPrimary = async () => String(await sentinel.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main'));
  const hasReplica = async () => ((await sentinel.client.call('SENTINEL', 'REPLICAS', 'main')) as unknown[]).length > 0;
  await waitUntil('the sentinel', hasReplica);
  return {
    url: `redis-sentinel://127.0.0.1:1,127.0.0.1:${sentinel.port}?name=main`,
    primary,
    waitForFailover: () => waitUntil('the failover', async () => (await getPrimary()).endsWith(String(replica.port))),
    async [Symbol.asyncDispose]() {
      await Promise.all([sentinel, replica, primary].map((member) => member[Symbol.asyncDispose]()));
    },
  };
}

function failed(): never {
  throw new Error('Redis: no such server');
}
