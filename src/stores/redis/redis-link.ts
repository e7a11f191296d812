import { type ChainableCommander, type Command, Redis, type RedisOptions } from 'ioredis';
import type { Secret } from '#base/secrets/secret.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { type RedisPlace, toPlace } from './redis-address.ts';

const connectTimeoutMs = 1_000;
const answerTimeoutMs = 2_000;
/** For a server that does not even take leave. */
const disconnectTimeoutMs = 500;
const shortestRetryMs = 50;
const longestRetryMs = 2_000;
const heartbeatMs = 15_000;
const nodeIdBytes = 12;

interface LinkDeps {
  readonly place: RedisPlace;
  /** Names this process among those that share the Redis; 16 characters of base64url. */
  readonly node: string;
  /** Called with faults that callers do not see. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

type Hear = (text: string) => void;

/**
 * Connections to one Redis, one for commands and one that receives what others publish. While it is away or stalls, commands
 * fail at once or within 2 s with StoreFault, none waits for its return; it is tried again by itself, every 2 s at most.
 */
export class RedisLink {
  readonly node: string;
  readonly #commands: Redis;
  readonly #hearing: Redis;
  readonly #noteFault: LinkDeps['noteFault'];
  readonly #listeners = new Map<string, Hear[]>();
  readonly #whenReady: (() => void)[] = [];
  readonly #heedful: (() => void)[] = [];
  readonly #heartbeat: NodeJS.Timeout;

  constructor({ place, node, noteFault }: LinkDeps) {
    this.node = node;
    this.#noteFault = noteFault;
    this.#commands = this.#connect(place, 'the shared store cannot be reached');
    this.#hearing = this.#connect(place, 'what other nodes say cannot be heard');
    this.#commands.on('ready', () => {
      for (const act of this.#whenReady) act();
    });
    this.#hearing.on('ready', () => this.#subscribe([...this.#listeners.keys()]));
    this.#hearing.on('message', (channel, text) => this.deliver(channel, text));
    // Nothing else is sent here, so nothing else would tell that the other end is gone.
    this.#heartbeat = setInterval(() => {
      if (this.#hearing.status === 'ready') this.#hearing.ping().catch(() => this.#hearing.disconnect(true));
    }, heartbeatMs).unref();
  }

  /** Resolves once Redis was reached, or was not. */
  async tried(): Promise<void> {
    const settled = (redis: Redis) => new Promise((resolve) => redis.once('ready', resolve).once('close', resolve));
    await Promise.all([settled(this.#commands), settled(this.#hearing)]);
  }

  /** Whether commands fail now, or nothing is heard of other nodes. */
  get isAway(): boolean {
    return [this.#commands, this.#hearing].some(({ status }) => status !== 'ready');
  }

  /** Calls `act` on every new connection to Redis, which may have lost all its data. */
  onReady(act: () => void): void {
    this.#whenReady.push(act);
  }

  /** Each time that what others publish is heard again; what they published meanwhile was missed. */
  onHearing(act: () => void): void {
    this.#heedful.push(act);
  }

  /** Teaches the connection a script, as a command of that name. */
  define(name: string, lua: string): void {
    this.#commands.defineCommand(name, { lua });
  }

  /** Sends in the order of the calls. Throws StoreFault. */
  async run<Result>(send: (redis: Redis) => Promise<Result>): Promise<Result> {
    try {
      return await send(this.#commands);
    } catch (thrown) {
      const error = thrown as Error;
      // A server that stalls is left: until it answers a new connection, nobody else has to wait for it.
      if (hasTimedOut(error)) this.#commands.disconnect(true);
      throw toFault(error);
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
  hear(channel: string, hear: Hear): void {
    const others = this.#listeners.get(channel) ?? [];
    this.#listeners.set(channel, [...others, hear]);
    if (this.#hearing.status === 'ready') this.#subscribe([channel]);
  }

  /** Hands a text to those who hear a channel, as if it came just now. */
  deliver(channel: string, text: string): void {
    for (const hear of this.#listeners.get(channel) ?? []) {
      try {
        hear(text);
      } catch (thrown) {
        this.#noteFault('what another node said could not be taken in', thrown);
      }
    }
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#commands.disconnect();
    this.#hearing.disconnect();
  }

  #connect(place: RedisPlace, complaint: string): Redis {
    const redis = new TimedRedis({
      ...place,
      connectionName: 'parley',
      connectTimeout: connectTimeoutMs,
      answerTimeoutMs,
      disconnectTimeout: disconnectTimeoutMs,
      enableOfflineQueue: false,
      // What was on its way may have been carried out: it is never sent again.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      retryStrategy: (times) => Math.min(shortestRetryMs * 2 ** (times - 1), longestRetryMs),
      // After a fail-over the old primary takes no writes; the address leads to the new one.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
    let isAway = false;
    redis.on('ready', () => {
      isAway = false;
    });
    redis.on('error', (thrown) => {
      // Once an outage.
      if (!isAway) this.#noteFault(complaint, toFault(thrown));
      isAway = true;
    });
    return redis;
  }

  #subscribe(channels: readonly string[]): void {
    if (channels.length === 0) return;
    this.#hearing.subscribe(...channels).then(
      () => {
        for (const act of this.#heedful) act();
      },
      () => this.#hearing.disconnect(true),
    );
  }
}

/** Errors of the client carry what was sent, which may be secret: only their words are kept, or their code if they have none. */
function toFault(thrown: Error & { readonly code?: string }): StoreFault {
  const cause = new Error(`Redis: ${thrown.message || thrown.code}`);
  return new StoreFault(hasTimedOut(thrown) ? 'it did not answer in time' : 'it cannot be reached', { cause });
}

const timedOut = 'Command timed out';

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

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(...sent);
    this.#watch(sent[0]);
    return answer;
  }

  #watch(command: Command): void {
    if (command.isSettled) return;
    // What is set here runs after the sockets were read.
    const giveUp = (): void => void setImmediate(() => command.isSettled || command.reject(new Error(timedOut)));
    const timer = setTimeout(giveUp, this.#answerTimeoutMs);
    const stop = (): void => clearTimeout(timer);
    command.promise.then(stop, stop);
  }
}

/** Whether a command failed because its answer took too long. */
function hasTimedOut({ message }: Error): boolean {
  return message === timedOut;
}

interface OpenRedisDeps extends Pick<LinkDeps, 'noteFault'> {
  readonly randomBytes: (size: number) => Buffer;
}

/** Connects to Redis or Valkey; resolves when it is there, or is found to be away: it is then tried again. Throws RedisAddressFault. */
export async function openRedis(address: Secret, { noteFault, randomBytes }: OpenRedisDeps): Promise<RedisLink> {
  const node = randomBytes(nodeIdBytes).toString('base64url');
  const link = new RedisLink({ place: toPlace(address), node, noteFault });
  await link.tried();
  return link;
}
