import { type ChainableCommander, type Command, Redis, type RedisOptions } from 'ioredis';
import type { Secret } from '#base/secrets/secret.ts';
import { StoreError } from '#domain/store-error.ts';
import { parseRedisAddress, type RedisConnectionOptions } from './redis-address.ts';

const connectTimeoutMs = 1_000;
const answerTimeoutMs = 2_000;
/** Limit for servers that do not close the connection. */
const disconnectTimeoutMs = 500;
const minRetryMs = 50;
const maxRetryMs = 2_000;
const heartbeatMs = 15_000;
const nodeIdBytes = 12;

interface LinkDeps {
  readonly connection: RedisConnectionOptions;
  /** Identifies this process among those that share the Redis. 16 characters of base64url. */
  readonly node: string;
  /** Called with errors that callers do not receive. */
  readonly reportError: (message: string, error: unknown) => void;
}

type MessageListener = (text: string) => void;

/**
 * Two connections to one Redis: one for commands and one for subscriptions. While Redis is unavailable or stalled, commands fail
 * with `StoreError` immediately or within 2 s, and do not wait for it to return. Reconnects automatically, with delays of at most
 * 2 s.
 */
export class RedisLink {
  readonly node: string;
  readonly #commands: Redis;
  readonly #subscriber: Redis;
  readonly #reportError: LinkDeps['reportError'];
  readonly #listeners = new Map<string, MessageListener[]>();
  readonly #readyListeners: (() => void)[] = [];
  readonly #heartbeat: NodeJS.Timeout;

  constructor({ connection, node, reportError }: LinkDeps) {
    this.node = node;
    this.#reportError = reportError;
    this.#commands = this.#connect(connection, 'Redis is unavailable');
    this.#subscriber = this.#connect(connection, 'Redis pub/sub is unavailable');
    this.#commands.on('ready', () => {
      for (const listener of this.#readyListeners) listener();
    });
    this.#subscriber.on('ready', () => this.#subscribeTo([...this.#listeners.keys()]));
    this.#subscriber.on('message', (channel, text) => this.#deliver(channel, text));
    // No other commands are sent on this connection, so only a ping detects that the other end is gone.
    this.#heartbeat = setInterval(() => {
      if (this.#subscriber.status === 'ready') this.#subscriber.ping().catch(() => this.#subscriber.disconnect(true));
    }, heartbeatMs).unref();
  }

  /** Resolves after the first connection attempt, regardless of its outcome. */
  async waitForFirstAttempt(): Promise<void> {
    const settled = (redis: Redis) => new Promise((resolve) => redis.once('ready', resolve).once('close', resolve));
    await Promise.all([settled(this.#commands), settled(this.#subscriber)]);
  }

  /** Whether commands currently fail or messages of other nodes are not received. */
  get isUnavailable(): boolean {
    return [this.#commands, this.#subscriber].some(({ status }) => status !== 'ready');
  }

  /** Calls the listener on every new connection to Redis, which may have lost all its data. */
  onReady(listener: () => void): void {
    this.#readyListeners.push(listener);
  }

  /** Defines a script as a command with this name. */
  define(name: string, lua: string): void {
    this.#commands.defineCommand(name, { lua });
  }

  /** Sends commands in the order of the calls. Throws `StoreError`. */
  async run<Result>(send: (redis: Redis) => Promise<Result>): Promise<Result> {
    try {
      return await send(this.#commands);
    } catch (caught) {
      const error = caught as Error;
      // Closes the connection to a stalled server, so that later commands fail immediately until it accepts a new connection.
      if (hasTimedOut(error)) this.#commands.disconnect(true);
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

  /** Returns the number of subscribers that received the message. Throws `StoreError`. */
  publish(channel: string, text: string): Promise<number> {
    return this.run((redis) => redis.publish(channel, text));
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
    clearInterval(this.#heartbeat);
    this.#commands.disconnect();
    this.#subscriber.disconnect();
  }

  #connect(connection: RedisConnectionOptions, errorMessage: string): Redis {
    const redis = new TimedRedis({
      ...connection,
      connectionName: 'parley',
      connectTimeout: connectTimeoutMs,
      answerTimeoutMs,
      disconnectTimeout: disconnectTimeoutMs,
      enableOfflineQueue: false,
      // Commands in progress may have been executed, so they are never resent.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      retryStrategy: (times) => Math.min(minRetryMs * 2 ** (times - 1), maxRetryMs),
      // After a failover, the old primary rejects writes and the address resolves to the new primary.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
    let isUnavailable = false;
    redis.on('ready', () => {
      isUnavailable = false;
    });
    redis.on('error', (error) => {
      // Reports each outage once.
      if (!isUnavailable) this.#reportError(errorMessage, toStoreError(error));
      isUnavailable = true;
    });
    return redis;
  }

  #subscribeTo(channels: readonly string[]): void {
    if (channels.length === 0) return;
    this.#subscriber.subscribe(...channels).catch(() => this.#subscriber.disconnect(true));
  }
}

/** Keeps only the message or code of an error of the client, because it also contains the sent command, which may be secret. */
function toStoreError(error: Error & { readonly code?: string }): StoreError {
  const cause = new Error(`Redis: ${error.message || error.code}`);
  return new StoreError(hasTimedOut(error) ? 'it did not answer in time' : 'it cannot be reached', { cause });
}

const timeoutMessage = 'Command timed out';

interface TimedRedisOptions extends Omit<RedisOptions, 'commandTimeout' | 'replyMapping'> {
  /** Maximum time for a response, in milliseconds. */
  readonly answerTimeoutMs: number;
}

/**
 * A connection with a timeout for each command. While the event loop is busy, responses stay unread in the socket and may time
 * out. Therefore the socket is read once more before a command fails.
 */
class TimedRedis extends Redis {
  readonly #answerTimeoutMs: number;

  constructor({ answerTimeoutMs, ...options }: TimedRedisOptions) {
    super(options);
    this.#answerTimeoutMs = answerTimeoutMs;
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(...args);
    this.#watch(args[0]);
    return answer;
  }

  #watch(command: Command): void {
    if (command.isSettled) return;
    // `setImmediate` runs after the sockets were read.
    const onTimeout = (): void => void setImmediate(() => command.isSettled || command.reject(new Error(timeoutMessage)));
    const timer = setTimeout(onTimeout, this.#answerTimeoutMs);
    const clear = (): void => clearTimeout(timer);
    command.promise.then(clear, clear);
  }
}

/** Returns whether a command failed because its response took too long. */
function hasTimedOut({ message }: Error): boolean {
  return message === timeoutMessage;
}

interface OpenRedisDeps extends Pick<LinkDeps, 'reportError'> {
  readonly randomBytes: (size: number) => Buffer;
}

/** Connects to Redis or Valkey. Resolves after the first attempt, also if it fails. Throws `RedisAddressError`. */
export async function openRedis(address: Secret, { reportError, randomBytes }: OpenRedisDeps): Promise<RedisLink> {
  const node = randomBytes(nodeIdBytes).toString('base64url');
  const link = new RedisLink({ connection: parseRedisAddress(address), node, reportError });
  await link.waitForFirstAttempt();
  return link;
}
