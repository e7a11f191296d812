import { type ChainableCommander, type Command, Redis, type RedisOptions } from 'ioredis';
import type { Secret } from '#base/secrets/secret.ts';
import { StoreError } from '#domain/store-error.ts';
import { parseRedisAddress, type RedisConnectionOptions } from './redis-address.ts';

const connectTimeoutMs = 1_000;
const answerTimeoutMs = 2_000;
/** For a server that does not even take leave. */
const disconnectTimeoutMs = 500;
const minRetryMs = 50;
const maxRetryMs = 2_000;
const heartbeatMs = 15_000;
const nodeIdBytes = 12;

interface LinkDeps {
  readonly connection: RedisConnectionOptions;
  /** Names this process among those that share the Redis; 16 characters of base64url. */
  readonly node: string;
  /** Called with faults that callers do not see. */
  readonly reportError: (message: string, error: unknown) => void;
}

type MessageListener = (text: string) => void;

/**
 * Connections to one Redis, one for commands and one that receives what others publish. While it is away or stalls, commands
 * fail at once or within 2 s with StoreFault, none waits for its return; it is tried again by itself, every 2 s at most.
 */
export class RedisLink {
  readonly node: string;
  readonly #commands: Redis;
  readonly #subscriber: Redis;
  readonly #reportError: LinkDeps['reportError'];
  readonly #listeners = new Map<string, MessageListener[]>();
  readonly #readyListeners: (() => void)[] = [];
  readonly #subscribedListeners: (() => void)[] = [];
  readonly #heartbeat: NodeJS.Timeout;

  constructor({ connection, node, reportError }: LinkDeps) {
    this.node = node;
    this.#reportError = reportError;
    this.#commands = this.#connect(connection, 'the shared store cannot be reached');
    this.#subscriber = this.#connect(connection, 'what other nodes say cannot be heard');
    this.#commands.on('ready', () => {
      for (const listener of this.#readyListeners) listener();
    });
    this.#subscriber.on('ready', () => this.#subscribeTo([...this.#listeners.keys()]));
    this.#subscriber.on('message', (channel, text) => this.deliver(channel, text));
    // Nothing else is sent here, so nothing else would tell that the other end is gone.
    this.#heartbeat = setInterval(() => {
      if (this.#subscriber.status === 'ready') this.#subscriber.ping().catch(() => this.#subscriber.disconnect(true));
    }, heartbeatMs).unref();
  }

  /** Resolves once Redis was reached, or was not. */
  async waitForFirstAttempt(): Promise<void> {
    const settled = (redis: Redis) => new Promise((resolve) => redis.once('ready', resolve).once('close', resolve));
    await Promise.all([settled(this.#commands), settled(this.#subscriber)]);
  }

  /** Whether commands fail now, or nothing is heard of other nodes. */
  get isAway(): boolean {
    return [this.#commands, this.#subscriber].some(({ status }) => status !== 'ready');
  }

  /** Calls `act` on every new connection to Redis, which may have lost all its data. */
  onReady(listener: () => void): void {
    this.#readyListeners.push(listener);
  }

  /** Each time that what others publish is heard again; what they published meanwhile was missed. */
  onSubscribed(listener: () => void): void {
    this.#subscribedListeners.push(listener);
  }

  /** Teaches the connection a script, as a command of that name. */
  define(name: string, lua: string): void {
    this.#commands.defineCommand(name, { lua });
  }

  /** Sends in the order of the calls. Throws StoreFault. */
  async run<Result>(send: (redis: Redis) => Promise<Result>): Promise<Result> {
    try {
      return await send(this.#commands);
    } catch (caught) {
      const error = caught as Error;
      // A server that stalls is left: until it answers a new connection, nobody else has to wait for it.
      if (hasTimedOut(error)) this.#commands.disconnect(true);
      throw toStoreError(error);
    }
  }

  /** Several commands as one step, in one round trip. Throws StoreFault. */
  async transact(add: (transaction: ChainableCommander) => ChainableCommander): Promise<void> {
    await this.run(async (redis) => {
      const results = await add(redis.multi()).exec();
      for (const [error] of results ?? []) if (error !== null) throw error;
    });
  }

  /** Gives how many hear it. Throws StoreFault. */
  publish(channel: string, text: string): Promise<number> {
    return this.run((redis) => redis.publish(channel, text));
  }

  /** Calls `hear` with what is published from now on; what is published while Redis is away is missed. */
  subscribe(channel: string, listener: MessageListener): void {
    const existing = this.#listeners.get(channel) ?? [];
    this.#listeners.set(channel, [...existing, listener]);
    if (this.#subscriber.status === 'ready') this.#subscribeTo([channel]);
  }

  /** Hands a text to those who hear a channel, as if it came just now. */
  deliver(channel: string, text: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) {
      try {
        listener(text);
      } catch (error) {
        this.#reportError('what another node said could not be taken in', error);
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
      // What was on its way may have been carried out: it is never sent again.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      retryStrategy: (times) => Math.min(minRetryMs * 2 ** (times - 1), maxRetryMs),
      // After a fail-over the old primary takes no writes; the address leads to the new one.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
    let isAway = false;
    redis.on('ready', () => {
      isAway = false;
    });
    redis.on('error', (error) => {
      // Once an outage.
      if (!isAway) this.#reportError(errorMessage, toStoreError(error));
      isAway = true;
    });
    return redis;
  }

  #subscribeTo(channels: readonly string[]): void {
    if (channels.length === 0) return;
    this.#subscriber.subscribe(...channels).then(
      () => {
        for (const listener of this.#subscribedListeners) listener();
      },
      () => this.#subscriber.disconnect(true),
    );
  }
}

/** Errors of the client carry what was sent, which may be secret: only their words are kept, or their code if they have none. */
function toStoreError(error: Error & { readonly code?: string }): StoreError {
  const cause = new Error(`Redis: ${error.message || error.code}`);
  return new StoreError(hasTimedOut(error) ? 'it did not answer in time' : 'it cannot be reached', { cause });
}

const timeoutMessage = 'Command timed out';

interface TimedRedisOptions extends Omit<RedisOptions, 'commandTimeout' | 'replyMapping'> {
  /** How long an answer may take. */
  readonly answerTimeoutMs: number;
}

/**
 * A connection that gives an answer its time, and this process too: while the event loop is busy, answers lie in the socket,
 * and the time is over before they are read. So they are read once more before a command is given up.
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
    // What is set here runs after the sockets were read.
    const onTimeout = (): void => void setImmediate(() => command.isSettled || command.reject(new Error(timeoutMessage)));
    const timer = setTimeout(onTimeout, this.#answerTimeoutMs);
    const clear = (): void => clearTimeout(timer);
    command.promise.then(clear, clear);
  }
}

/** Whether a command failed because its answer took too long. */
function hasTimedOut({ message }: Error): boolean {
  return message === timeoutMessage;
}

interface OpenRedisDeps extends Pick<LinkDeps, 'reportError'> {
  readonly randomBytes: (size: number) => Buffer;
}

/** Connects to Redis or Valkey; resolves when it is there, or is found to be away: it is then tried again. Throws RedisAddressFault. */
export async function openRedis(address: Secret, { reportError, randomBytes }: OpenRedisDeps): Promise<RedisLink> {
  const node = randomBytes(nodeIdBytes).toString('base64url');
  const link = new RedisLink({ connection: parseRedisAddress(address), node, reportError });
  await link.waitForFirstAttempt();
  return link;
}
