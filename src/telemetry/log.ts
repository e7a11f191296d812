import { pino } from 'pino';
import { isJsonObject } from '#base/json/json.ts';
import type { Secret } from '#base/secrets/secret.ts';
import { truncate } from '#base/text/shorten.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const shortest = 6;
const looksSecret: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 ***'],
  [/\b((?:api[-_]?key|key|token|secret|password|signature|authorization)["']?\s*[=:]\s*["']?)[^\s"'&,;}]{6,}/gi, '$1***'],
  // Pattern bound: linear. A slash ends the search, and each start has two of them.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:]*:[^\s/@]*@/gi, '$1***@'],
  [/\bsk-[\w-]{8,}/g, '***'],
  // Pattern bound: a start that does not match costs at most 1,024 characters.
  [/\beyJ[\w-]{4,1024}\.[\w-]{1,16384}\.[\w-]*/g, '***'],
];

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

interface LogOptions {
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

const deepestCause = 5;
const longestMessage = 500;
const mostFrames = 12;
const withheld = '(not logged: it may quote content)';
/** An upstream's own code may be anything. */
const isCode = /^[\w.-]{1,64}$/;

/** An error as the log has it. */
interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly kind?: string;
  readonly status?: number;
  readonly stack?: readonly string[];
  readonly cause?: DescribedError;
}

/**
 * An error with its causes. Messages that others worded, such as an upstream's own or a JSON parser's excerpt, may quote
 * what users wrote and are left out, unless `showsForeignWords`.
 */
export function describeError(thrown: unknown, showsForeignWords: boolean, depth = 0): DescribedError {
  if (!(thrown instanceof Error))
    return { name: typeof thrown, message: showsForeignWords ? truncate(String(thrown), longestMessage) : withheld };
  const { code, kind, status } = thrown as { code?: unknown; kind?: unknown; status?: unknown };
  const cause = depth < deepestCause ? thrown.cause : undefined;
  return {
    name: thrown.name,
    message: showsForeignWords || !mayQuote(thrown) ? truncate(thrown.message, longestMessage) : withheld,
    ...(typeof code === 'string' && (showsForeignWords || isCode.test(code)) && { code: truncate(code, longestMessage) }),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof status === 'number' && { status }),
    ...(hasOwnFault(thrown) && { stack: framesOf(thrown) }),
    ...(cause !== undefined && { cause: describeError(cause, showsForeignWords, depth + 1) }),
  };
}

function mayQuote(error: Error): boolean {
  if (error instanceof SyntaxError) return true;
  const fault = error instanceof ParleyError ? error.cause : error;
  return fault instanceof UpstreamFault && (fault.status !== undefined || fault.kind === 'refused');
}

/** Expected failures are told by their kind; a stack helps if the fault is ours. */
function hasOwnFault(error: Error): boolean {
  return !(error instanceof UpstreamFault) && !(error instanceof ParleyError && error.code !== 'internal_error');
}

function framesOf(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at ')).slice(0, mostFrames);
}

/** Removes secrets from text for the log: known ones first, then what looks like one. A last safeguard: none should get here. */
export function redact(text: string, secrets: Iterable<Secret>): string {
  let left = text;
  for (const secret of secrets) {
    const value = secret.reveal();
    if (value.length >= shortest && left.includes(value)) left = left.replaceAll(value, '***');
  }
  for (const [form, shown] of looksSecret) left = left.replace(form, shown);
  return left;
}
