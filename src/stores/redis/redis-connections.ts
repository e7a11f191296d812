import { isIP } from 'node:net';
import { Cluster, type ClusterOptions, type Command, Redis, type RedisOptions } from 'ioredis';
import type { RedisConnectionOptions, RedisHost } from './redis-address.ts';
import { timeoutMessage } from './redis-errors.ts';

const connectTimeoutMs = 1_000;
const answerTimeoutMs = 2_000;
/** Limit for servers that do not close the connection. */
const disconnectTimeoutMs = 500;
/** Time without data after which the connection to a stalled node of a cluster is closed. */
const socketTimeoutMs = 5_000;
const minRetryMs = 50;
const maxRetryMs = 2_000;

/** Connections to a server or a cluster. Neither repeats a command that may have been executed. */
export interface RedisConnections {
  readonly commands: Redis | Cluster;
  readonly subscriber: Redis;
}

const toDelayMs = (times: number): number => Math.min(minRetryMs * 2 ** (times - 1), maxRetryMs);

/** Starts to connect. Connections that close are opened again, with delays of at most 2 s. */
export function openConnections(options: RedisConnectionOptions): RedisConnections {
  if (options.kind !== 'cluster')
    return { commands: new TimedRedis(toServerOptions(options)), subscriber: new TimedRedis(toServerOptions(options)) };
  const commands = new TimedCluster(options);
  return { commands, subscriber: openClusterSubscriber(commands, options) };
}

function toCommonOptions({ username, password, tls }: RedisConnectionOptions) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
    connectionName: 'parley',
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: disconnectTimeoutMs,
    // Commands in progress may have been executed, so they are never resent.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    // After a failover, the old primary rejects writes and the address resolves to the new primary.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  } satisfies SupportedOptions;
}

function toServerOptions(options: RedisConnectionOptions): SupportedOptions {
  const { kind, hosts, db, tls, sentinel } = options;
  const [first] = hosts;
  return {
    ...toCommonOptions(options),
    ...(kind === 'sentinel' ? toSentinelOptions(hosts, sentinel, tls) : first),
    ...(tls && kind === 'server' && { tls: { ...tls, ...(isIP(first.host) === 0 && { servername: first.host }) } }),
    db,
    enableOfflineQueue: false,
    retryStrategy: toDelayMs,
  };
}

function toSentinelOptions(
  hosts: readonly RedisHost[],
  { name, username, password }: NonNullable<RedisConnectionOptions['sentinel']> = { name: '' },
  tls: RedisConnectionOptions['tls'],
): SupportedOptions {
  return {
    sentinels: [...hosts],
    name,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: toDelayMs,
    sentinelCommandTimeout: connectTimeoutMs,
  };
}

/** Any node of a cluster receives all messages. The subscriber moves to another node if its node leaves the cluster. */
function openClusterSubscriber(cluster: Cluster, options: RedisConnectionOptions): Redis {
  const chooseHost = (): RedisHost => {
    const nodeHosts = cluster.nodes().map(({ options: { host = '', port = 0 } }) => ({ host, port }));
    const candidates = nodeHosts.length > 0 ? nodeHosts : options.hosts;
    return candidates[Math.floor(Math.random() * candidates.length)] ?? options.hosts[0];
  };
  const subscriber: Redis = new TimedRedis({
    ...toCommonOptions(options),
    ...options.hosts[0],
    enableOfflineQueue: false,
    retryStrategy: (times) => {
      Object.assign(subscriber.options, chooseHost());
      return toDelayMs(times);
    },
  });
  cluster.on('-node', ({ options: { host, port } }: Redis) => {
    if (host === subscriber.options.host && port === subscriber.options.port) subscriber.disconnect(true);
  });
  return subscriber;
}

/** Options without `replyMapping`, because the client returns other types with it. */
type SupportedOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * A connection with a timeout for each command. While the event loop is busy, responses stay unread in the socket and may time
 * out. Therefore the socket is read once more before a command fails.
 */
class TimedRedis extends Redis {
  constructor(options: SupportedOptions) {
    super(options);
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(...args);
    applyTimeout(args[0]);
    return answer;
  }
}

/** Connections to the nodes of a cluster, with a timeout for each command including its redirections. */
class TimedCluster extends Cluster {
  constructor(options: RedisConnectionOptions) {
    const clusterOptions = {
      redisOptions: { ...toCommonOptions(options), socketTimeout: socketTimeoutMs },
      clusterRetryStrategy: toDelayMs,
      // Commands wait for the first connection to their node, which their first command opens.
      enableOfflineQueue: true,
      // 0 means that a command is not resent after its connection closed, because it may have been executed.
      retryDelayOnFailover: 0,
      slotsRefreshTimeout: connectTimeoutMs,
      // Certificates contain host names, so these are resolved only when a socket connects.
      dnsLookup: (host, onResolved) => onResolved(null, host),
    } satisfies ClusterOptions;
    super([...options.hosts], clusterOptions);
  }

  override sendCommand(...args: Parameters<Cluster['sendCommand']>): unknown {
    const [command] = args;
    // The check whether the cluster is ready uses the command CLUSTER.
    if (this.status !== 'ready' && command.name !== 'cluster') {
      command.reject(new Error('The cluster is not connected'));
      return command.promise;
    }
    const answer = super.sendCommand(...args);
    applyTimeout(command);
    return answer;
  }
}

function applyTimeout(command: Command): void {
  if (command.isSettled) return;
  // `setImmediate` runs after the sockets were read.
  const onTimeout = (): void => void setImmediate(() => command.isSettled || command.reject(new Error(timeoutMessage)));
  const timer = setTimeout(onTimeout, answerTimeoutMs);
  const clear = (): void => clearTimeout(timer);
  command.promise.then(clear, clear);
}
