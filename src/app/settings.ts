import type { ServeFlags } from './cli.ts';
import { type LogLevel, logLevels, toLogLevel } from './log.ts';

/** What a node is told on its command line and in its environment (contract 1). */
export interface Settings {
  /** Configuration files in the order they are merged; none: the embedded default. */
  readonly configurationFiles: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly drainMs: number;
  /** A port of its own for /metrics; undefined: the service's own. */
  readonly metricsPort: number | undefined;
  readonly logLevel: LogLevel;
}

/** A flag or variable that cannot be used; the message may be shown. */
export class SettingFault extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/** Flags win over the environment, the environment over the defaults. Throws SettingFault. */
export function readSettings(flags: ServeFlags, environment: Environment): Settings {
  const listed = environment.PARLEY_CONFIG?.split(',').map((file) => file.trim()) ?? [];
  const { tlsCert, tlsKey } = flags;
  return {
    configurationFiles: flags.config ?? listed.filter((file) => file !== ''),
    host: flags.host ?? environment.PARLEY_HOST ?? '127.0.0.1',
    port: toWhole('the port', flags.port ?? environment.PARLEY_PORT ?? '8080', 65_535),
    dataFolder: flags.data ?? environment.PARLEY_DATA ?? './.parley',
    tls: tlsCert === undefined || tlsKey === undefined ? undefined : { certFile: tlsCert, keyFile: tlsKey },
    drainMs: toWhole('PARLEY_DRAIN_MS', environment.PARLEY_DRAIN_MS ?? '30000', 86_400_000),
    metricsPort:
      environment.PARLEY_METRICS_PORT === undefined
        ? undefined
        : toWhole('PARLEY_METRICS_PORT', environment.PARLEY_METRICS_PORT, 65_535),
    logLevel: toLevel(environment.LOG_LEVEL ?? 'info'),
  };
}

function toWhole(what: string, text: string, most: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > most) {
    throw new SettingFault(`${what} must be a whole number from 0 to ${most}, not "${text}"`);
  }
  return value;
}

function toLevel(word: string): LogLevel {
  const level = toLogLevel(word);
  if (level === undefined) throw new SettingFault(`LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${word}"`);
  return level;
}
