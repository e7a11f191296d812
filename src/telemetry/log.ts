import { pino } from 'pino';
import { isJsonObject } from '#base/json.ts';
import type { Secret } from '#base/secret.ts';
import { describeError } from './describe-error.ts';
import { redact } from './redact.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

type Fields = Readonly<Record<string, unknown>>;

/** The log of a node: lines of JSON. Fields and messages are cleared of known secrets; content never comes here. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  /** With what was thrown, its causes, and the stack if the fault is ours. */
  error(message: string, thrown: unknown, fields?: Fields): void;
  isLevelOn(level: LogLevel): boolean;
  /** The text without secrets, for a line that is written to the sink directly. */
  clean(text: string): string;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly sink: { write(line: string): void };
  readonly secrets: () => Iterable<Secret>;
}

/** The level that a word names; undefined for any other. */
export function toLogLevel(word: string | undefined): LogLevel | undefined {
  return logLevels.find((level) => level === word?.toLowerCase());
}

export function createLog({ level, sink, secrets }: LogOptions): Log {
  const clean = (text: string): string => redact(text, secrets());
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      formatters: { level: (label) => ({ level: label }), log: (fields) => cleared(fields, clean) },
      hooks: {
        logMethod(given, method) {
          const [fields, message] = given as unknown as [object, string];
          method.call(this, fields, clean(message));
        },
      },
    },
    sink,
  );
  const showsForeignWords = logger.isLevelEnabled('debug');
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, thrown, fields = {}) =>
      logger.error(thrown === undefined ? fields : { ...fields, error: describeError(thrown, showsForeignWords) }, message),
    clean,
    isLevelOn: (asked) => logger.isLevelEnabled(asked),
  };
}

function cleared(value: Fields, clean: (text: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clearedValue(item, clean)]));
}

function clearedValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => clearedValue(item, clean));
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype ? cleared(value, clean) : value;
}
