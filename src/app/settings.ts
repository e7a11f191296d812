import { availableParallelism } from 'node:os';
import { toSecrets } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { type S3Address, toS3Address } from '#stores/files/s3-address.ts';
import { parseRedisAddress, RedisAddressError } from '#stores/redis/redis-address.ts';
import { type LogLevel, logLevels, toLogLevel } from '#telemetry/log.ts';
import type { ServeFlags } from './cli.ts';
import { getProcessMemory } from './process/memory-shares.ts';

/** Settings of a node, from the command line and the environment. */
export interface Settings {
  /** Configuration files in merge order. Empty for the embedded default. */
  readonly configurationFiles: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  /** Number of processes that serve requests. If it is 1, the first process serves them itself. */
  readonly workers: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly shared: SharedStores;
  /** `PARLEY_SECRET`: secrets for encryption at rest and signing, newest first. If empty, the node creates a secret in the data folder. */
  readonly secrets: readonly Secret[];
  readonly drainMs: number;
  readonly lameDuckMs: number;
  /** Separate port for /metrics. If undefined, the main port serves it. */
  readonly metricsPort: number | undefined;
  readonly logLevel: LogLevel;
}

/** Stores that nodes share. If `databaseUrl`, `redisUrl`, or `files` is undefined, the node uses its local store. */
interface SharedStores {
  readonly databaseUrl: Secret | undefined;
  /** Read-only copy of the database, for reports that can be some seconds old. If undefined, reports use the database. */
  readonly replicaUrl: Secret | undefined;
  /** Maximum number of connections to the database, and to its replica. Undefined for the default. */
  readonly databasePool: number | undefined;
  readonly redisUrl: Secret | undefined;
  readonly files: S3Address | undefined;
}

/** Invalid flag or environment variable. The message is for the operator. */
export class SettingError extends Error {}

/** Returns the message of an error for the operator. */
export function getReason(cause: unknown): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : 'unknown reason';
}

const maxPort = 65_535;
const maxPoolSize = 1000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the settings. Flags override the environment, and the environment overrides the defaults. Throws SettingError. */
export function readSettings(flags: ServeFlags, environment: Environment): Settings {
  const environmentFiles = environment.PARLEY_CONFIG?.split(',').map((file) => file.trim()) ?? [];
  const { tlsCert, tlsKey } = flags;
  const port = toInteger('the port', flags.port ?? environment.PARLEY_PORT ?? '8080', maxPort);
  return {
    configurationFiles: flags.config ?? environmentFiles.filter((file) => file !== ''),
    host: flags.host ?? environment.PARLEY_HOST ?? '127.0.0.1',
    port,
    dataFolder: readDataFolder(flags.data, environment),
    workers: toWorkerCount(flags.workers ?? environment.PARLEY_WORKERS ?? '1'),
    tls: tlsCert === undefined || tlsKey === undefined ? undefined : { certFile: tlsCert, keyFile: tlsKey },
    shared: toSharedStores(environment),
    secrets: toSecrets(environment.PARLEY_SECRET ?? ''),
    drainMs: toInteger('PARLEY_DRAIN_MS', environment.PARLEY_DRAIN_MS ?? '30000', 86_400_000),
    lameDuckMs: toInteger('PARLEY_LAME_DUCK_MS', environment.PARLEY_LAME_DUCK_MS ?? '2000', 86_400_000),
    metricsPort: toMetricsPort(environment.PARLEY_METRICS_PORT, port),
    logLevel: toLevel(environment.LOG_LEVEL ?? 'info'),
  };
}

/** Returns the data folder. A flag overrides the environment. */
export function readDataFolder(flag: string | undefined, environment: Environment): string {
  return flag ?? environment.PARLEY_DATA ?? './.parley';
}

const maxWorkers = 64;
/** Memory in bytes that `auto` requires for each worker. */
const memoryPerWorker = 256 * 1024 ** 2;

/** Returns the number of workers. `auto` is one per core, at most 64, and fewer in a small container. */
function toWorkerCount(text: string): number {
  if (text === 'auto') {
    const byMemory = Math.floor(getProcessMemory() / memoryPerWorker);
    return Math.max(1, Math.min(availableParallelism(), byMemory, maxWorkers));
  }
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= maxWorkers) return count;
  throw new SettingError(`--workers or PARLEY_WORKERS must be auto or an integer from 1 to ${maxWorkers}, not "${text}"`);
}

function toMetricsPort(text: string | undefined, port: number): number | undefined {
  if (text === undefined) return undefined;
  const metricsPort = toInteger('PARLEY_METRICS_PORT', text, maxPort);
  if (metricsPort === port && port !== 0)
    throw new SettingError(
      `PARLEY_METRICS_PORT and the port of the service are both ${port}. Set PARLEY_METRICS_PORT to a different port`,
    );
  return metricsPort;
}

function toSharedStores(environment: Environment): SharedStores {
  const shared = {
    databaseUrl: toSecret(environment.PARLEY_DATABASE_URL),
    replicaUrl: toSecret(environment.PARLEY_DATABASE_REPLICA_URL),
    databasePool: toPoolSize(environment.PARLEY_DATABASE_POOL),
    redisUrl: toSecret(environment.PARLEY_REDIS_URL),
    files: readFilesAddress(environment),
  };
  validateAddresses(shared);
  const [setting] = ['PARLEY_DATABASE_URL', 'PARLEY_REDIS_URL', 'PARLEY_FILES_URL'].filter((name) => environment[name]);
  if (setting !== undefined && toSecrets(environment.PARLEY_SECRET ?? '').length === 0)
    throw new SettingError(`${setting} is set, so PARLEY_SECRET must also be set. Use the same value for all nodes`);
  return shared;
}

function toPoolSize(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  return toInteger('PARLEY_DATABASE_POOL', text, maxPoolSize, 1);
}

function validateAddresses({ databaseUrl, replicaUrl, redisUrl }: SharedStores): void {
  validatePostgresUrl('PARLEY_DATABASE_URL', databaseUrl);
  validatePostgresUrl('PARLEY_DATABASE_REPLICA_URL', replicaUrl);
  if (replicaUrl !== undefined && databaseUrl === undefined)
    throw new SettingError('PARLEY_DATABASE_REPLICA_URL is set, so PARLEY_DATABASE_URL must also be set');
  try {
    if (redisUrl !== undefined) parseRedisAddress(redisUrl);
  } catch (error) {
    throw error instanceof RedisAddressError ? new SettingError(`PARLEY_REDIS_URL ${error.message}`) : error;
  }
}

function validatePostgresUrl(name: string, url: Secret | undefined): void {
  if (url === undefined || /^postgres(ql)?:\/\/./.test(url.reveal())) return;
  throw new SettingError(`${name} must be a URL that starts with postgres://`);
}

function toSecret(text: string | undefined): Secret | undefined {
  return text === undefined || text === '' ? undefined : new Secret(text);
}

/** Returns the address of `PARLEY_FILES_URL`, or undefined if it is not set. Throws SettingError. */
export function readFilesAddress(environment: Environment): S3Address | undefined {
  const { PARLEY_FILES_URL: url } = environment;
  if (url === undefined || url === '') return undefined;
  try {
    return toS3Address(url, environment);
  } catch (error) {
    if (error instanceof RangeError) throw new SettingError(`PARLEY_FILES_URL ${error.message}`);
    throw error;
  }
}

function toInteger(name: string, text: string, max: number, min = 0): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
    throw new SettingError(`${name} must be an integer from ${min} to ${max}, not "${text}"`);
  }
  return value;
}

function toLevel(text: string): LogLevel {
  const level = toLogLevel(text);
  if (level === undefined) throw new SettingError(`LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${text}"`);
  return level;
}

/** Returns the secret values that must not appear in logs. */
export function listSecrets({ secrets, shared }: Settings): readonly Secret[] {
  const { secretAccessKey, sessionToken } = shared.files?.credentials ?? {};
  return [...secrets, shared.databaseUrl, shared.replicaUrl, shared.redisUrl, secretAccessKey, sessionToken].filter(
    (secret) => secret !== undefined,
  );
}
