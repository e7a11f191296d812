import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainableCommander, Cluster, type Redis } from 'ioredis';
import type { Secret } from '#base/secrets/secret.ts';
import { parseRedisAddress } from './redis-address.ts';
import { openConnections, type RedisConnections } from './redis-connections.ts';
import { hasTimedOut, toStoreError } from './redis-errors.ts';

const heartbeatMs = 15_000;
const recheckIntervalMs = 500;
const nodeIdBytes = 12;

const unavailable = 'Redis is unavailable';

interface LinkDeps {
  readonly connections: RedisConnections;
  /** Identifies this process among those that share the Redis. 16 characters of base64url. */
  readonly node: string;
  /** Called with errors that no method of the link throws. */
  readonly reportError: (message: string, error: unknown) => void;
}

type MessageListener = (text: string) => void;

interface ReadyListener {
  readonly key: string;
  readonly run: () => void;
}

/**
 * Connections to one Redis or cluster: for commands and for subscriptions. While Redis is unavailable or stalled, commands fail
 * with `StoreError` immediately or within 2 s, and do not wait for it to return. Reconnects automatically, with delays of at most
 * 2 s.
 */
export class RedisLink {
  readonly node: string;
  readonly #commands: Redis | Cluster;
  readonly #subscriber: Redis;
  readonly #reportError: LinkDeps['reportError'];
  readonly #listeners = new Map<string, MessageListener[]>();
  readonly #readyListeners: ReadyListener[] = [];
  readonly #recovery: ClusterRecovery | undefined;
  #wasReached = false;
  #isClosed = false;
  readonly #heartbeat: NodeJS.Timeout;

  constructor({ connections: { commands, subscriber }, node, reportError }: LinkDeps) {
    this.node = node;
    this.#reportError = reportError;
    this.#commands = commands;
    this.#subscriber = subscriber;
    for (const redis of [commands, subscriber]) this.#keepConnected(redis);
    this.#reportOutages(commands, unavailable);
    this.#reportOutages(subscriber, 'Redis pub/sub is unavailable');
    if (commands instanceof Cluster)
      this.#recovery = new ClusterRecovery(commands, this.#readyListeners, (error) => reportError(unavailable, error));
    this.#commands.on('ready', () => {
      this.#wasReached = true;
      for (const { run } of this.#readyListeners) run();
    });
    this.#subscriber.on('ready', () => this.#subscribeTo([...this.#listeners.keys()]));
    this.#subscriber.on('message', (channel, text) => this.#deliver(channel, text));
    // No other commands are sent on this connection, so only a ping detects that the other end is gone.
    this.#heartbeat = setInterval(() => {
      if (this.#subscriber.status === 'ready') this.#subscriber.ping().catch(() => reconnect(this.#subscriber));
    }, heartbeatMs).unref();
  }

  /** Resolves after the first connection attempt, regardless of its outcome. */
  async waitForFirstAttempt(): Promise<void> {
    const settled = (redis: Redis | Cluster) =>
      new Promise<unknown>((resolve) => redis.once('ready', resolve).once('close', resolve).once('error', resolve));
    await Promise.all([settled(this.#commands), settled(this.#subscriber)]);
  }

  /** Whether commands currently fail or messages of other nodes are not received. */
  get isUnavailable(): boolean {
    return this.#recovery?.isIncomplete || [this.#commands, this.#subscriber].some(({ status }) => status !== 'ready');
  }

  /** Whether Redis was reachable at least once. */
  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** Calls the listener on every new connection to the server of the key, which may have lost all its data. */
  onReady(key: string, listener: () => void): void {
    this.#readyListeners.push({ key, run: listener });
  }

  /** Defines a script as a command with this name. */
  define(name: string, lua: string): void {
    this.#commands.defineCommand(name, { lua });
  }

  /** Sends commands in the order of the calls. Throws `StoreError`. */
  async run<Result>(send: (redis: Redis | Cluster) => Promise<Result>): Promise<Result> {
    try {
      return await send(this.#commands);
    } catch (caught) {
      const error = caught as Error;
      // Closes the connection to a stalled server, so that later commands fail immediately until it accepts a new connection.
      if (hasTimedOut(error) && this.#recovery === undefined) reconnect(this.#commands);
      if (hasTimedOut(error)) this.#recovery?.check();
      throw toStoreError(error);
    }
  }

  /** Runs several commands atomically in one round trip. Throws `StoreError`. */
  async transact(add: (transaction: ChainableCommander) => ChainableCommander): Promise<void> {
    await this.run(async (redis) => {
      const results = await add(redis.multi()).exec();
      for (const [error] of results ?? []) if (error !== null) throw error;
    });
  }

  /**
   * Returns the number of subscribers that received the message. Returns undefined if Redis is a cluster, because each of its
   * nodes counts only its own subscribers. Throws `StoreError`.
   */
  async publish(channel: string, text: string): Promise<number | undefined> {
    const count = await this.run((redis) => redis.publish(channel, text));
    return this.#recovery === undefined ? count : undefined;
  }

  /** Calls the listener with each message from now on. Messages that are published while Redis is unavailable are missed. */
  subscribe(channel: string, listener: MessageListener): void {
    const existing = this.#listeners.get(channel) ?? [];
    this.#listeners.set(channel, [...existing, listener]);
    if (this.#subscriber.status === 'ready') this.#subscribeTo([channel]);
  }

  #deliver(channel: string, text: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) {
      try {
        listener(text);
      } catch (error) {
        this.#reportError('a message from another node could not be processed', error);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    this.#commands.disconnect();
    this.#subscriber.disconnect();
  }

  /** Connects again if the client gives up, which it does if it is disconnected while it queries the sentinels. */
  #keepConnected(redis: Redis | Cluster): void {
    redis.on('end', () => {
      const connect = (): void => void (this.#isClosed || redis.connect().catch(() => undefined));
      setTimeout(connect, recheckIntervalMs).unref();
    });
  }

  #reportOutages(redis: Redis | Cluster, errorMessage: string): void {
    let isUnavailable = false;
    redis.on('ready', () => {
      isUnavailable = false;
    });
    redis.on('error', (error: Error) => {
      // Reports each outage once.
      if (!isUnavailable) this.#reportError(errorMessage, toStoreError(error));
      isUnavailable = true;
    });
  }

  #subscribeTo(channels: readonly string[]): void {
    if (channels.length === 0) return;
    this.#subscriber.subscribe(...channels).catch(() => reconnect(this.#subscriber));
  }
}

/** Replaces an open connection. A connection that is being opened must not be disturbed. */
function reconnect(redis: Redis | Cluster): void {
  if (redis.status === 'ready') redis.disconnect(true);
}

/** A cluster node that fails may lose its newest data. This class calls each listener when the node of its key answers again. */
class ClusterRecovery {
  readonly #cluster: Cluster;
  readonly #listeners: readonly ReadyListener[];
  readonly #reportError: (error: unknown) => void;
  readonly #pending = new Set<ReadyListener>();
  #isChecking = false;
  /** Whether the last check did not reach the nodes of all keys. */
  isIncomplete = false;

  constructor(cluster: Cluster, listeners: readonly ReadyListener[], reportError: (error: unknown) => void) {
    this.#cluster = cluster;
    this.#listeners = listeners;
    this.#reportError = reportError;
    cluster.on('-node', () => this.check());
  }

  /** Checks every key until its node answers. */
  check(): void {
    if (this.#cluster.status !== 'ready') return;
    for (const listener of this.#listeners) this.#pending.add(listener);
    if (!this.#isChecking) void this.#repeat();
  }

  async #repeat(): Promise<void> {
    this.#isChecking = true;
    while (this.#pending.size > 0 && this.#cluster.status === 'ready') {
      const results = await Promise.allSettled([...this.#pending].map((listener) => this.#checkKey(listener)));
      const failure = results.find(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected' && !this.isIncomplete) this.#reportError(toStoreError(failure.reason as Error));
      this.isIncomplete = failure !== undefined;
      if (failure !== undefined) await sleep(recheckIntervalMs, undefined, { ref: false });
    }
    // If the cluster is not ready, `RedisLink` calls all listeners when it is ready again.
    this.#pending.clear();
    this.isIncomplete = false;
    this.#isChecking = false;
  }

  async #checkKey(listener: ReadyListener): Promise<void> {
    await this.#cluster.exists(listener.key);
    if (this.#pending.delete(listener)) listener.run();
  }
}

interface OpenRedisDeps extends Pick<LinkDeps, 'reportError'> {
  readonly randomBytes: (size: number) => Buffer;
}

/**
 * Connects to Redis or Valkey: to a server, to a cluster, or through sentinels. Resolves after the first attempt, even if it
 * fails. Throws `RedisAddressError`.
 */
export async function openRedis(address: Secret, { reportError, randomBytes }: OpenRedisDeps): Promise<RedisLink> {
  const node = randomBytes(nodeIdBytes).toString('base64url');
  const link = new RedisLink({ connections: openConnections(parseRedisAddress(address)), node, reportError });
  await link.waitForFirstAttempt();
  return link;
}
