import { pino } from 'pino';
import { isJsonObject } from '#base/json/json.ts';
import type { Secret } from '#base/secrets/secret.ts';
import { truncate } from '#base/text/truncate.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const minSecretLength = 6;
const secretPatterns: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 ***'],
  [/\b((?:api[-_]?key|key|token|secret|password|signature|authorization)["']?\s*[=:]\s*["']?)[^\s"'&,;}]{6,}/gi, '$1***'],
  // Pattern bound: linear. A slash ends the search, and each start has two of them.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:]*:[^\s/@]*@/gi, '$1***@'],
  [/\bsk-[\w-]{8,}/g, '***'],
  // Pattern bound: a start that does not match costs at most 1,024 + 16,384 characters.
  [/\beyJ[\w-]{4,1024}\.[\w-]{1,16384}\.[\w-]*/g, '***'],
];

export type LogLevel = (typeof logLevels)[number];

type Fields = Readonly<Record<string, unknown>>;

/**
 * The log of a node, as lines of JSON. It removes known secrets from fields and messages. It omits error messages that may quote
 * content, unless the level is `debug` or `trace`.
 */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  /** Logs the error with its causes. Adds the stack if the error is a defect of Parley. */
  error(message: string, error: unknown, fields?: Fields): void;
  isLevelOn(level: LogLevel): boolean;
  /** Returns the text without secrets, for a line that is written directly to the sink. */
  redact(text: string): string;
}

interface LogOptions {
  readonly level: LogLevel;
  readonly sink: { write(line: string): void };
  readonly secrets: () => Iterable<Secret>;
}

/** Returns the log level of this name, or undefined for an unknown name. */
export function toLogLevel(word: string | undefined): LogLevel | undefined {
  return logLevels.find((level) => level === word?.toLowerCase());
}

export function createLog({ level, sink, secrets }: LogOptions): Log {
  const redactText = (text: string): string => redact(text, secrets());
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactFields(fields, redactText) },
      hooks: {
        logMethod(args, method) {
          const [fields, message] = args as unknown as [object, string];
          method.call(this, fields, redactText(message));
        },
      },
    },
    sink,
  );
  const includesForeignText = logger.isLevelEnabled('debug');
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, error, fields = {}) =>
      logger.error(error === undefined ? fields : { ...fields, error: describeError(error, includesForeignText) }, message),
    redact: redactText,
    isLevelOn: (candidate) => logger.isLevelEnabled(candidate),
  };
}

type RedactText = (text: string) => string;

function redactFields(fields: Fields, redactText: RedactText): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, redactValue(value, redactText)]));
}

function redactValue(value: unknown, redactText: RedactText): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redactText));
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype ? redactFields(value, redactText) : value;
}

const maxCauseDepth = 5;
const maxMessageChars = 500;
const maxFrames = 12;
const withheldText = '(not logged: it may quote content)';
/** An upstream can put any text into its error code. Unless the level is `debug` or `trace`, only short identifiers are logged. */
const codePattern = /^[\w.-]{1,64}$/;

/** Log fields of an error. */
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
 * Describes an error with its causes. Messages of upstreams and of JSON parsers may quote user content. They are left out
 * unless `includesForeignText` is set.
 */
export function describeError(error: unknown, includesForeignText: boolean, depth = 0): DescribedError {
  if (!(error instanceof Error))
    return { name: typeof error, message: includesForeignText ? truncate(String(error), maxMessageChars) : withheldText };
  const { code, kind, status } = error as { code?: unknown; kind?: unknown; status?: unknown };
  const cause = depth < maxCauseDepth ? error.cause : undefined;
  return {
    name: error.name,
    message: includesForeignText || !mayQuote(error) ? truncate(error.message, maxMessageChars) : withheldText,
    ...(typeof code === 'string' && (includesForeignText || codePattern.test(code)) && { code: truncate(code, maxMessageChars) }),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof status === 'number' && { status }),
    ...(isDefect(error) && { stack: getFrames(error) }),
    ...(cause !== undefined && { cause: describeError(cause, includesForeignText, depth + 1) }),
  };
}

/** Returns whether the message of the error may quote user content. */
function mayQuote(error: Error): boolean {
  if (error instanceof SyntaxError) return true;
  const source = error instanceof ParleyError ? error.cause : error;
  return source instanceof UpstreamError && (source.status !== undefined || source.kind === 'refused');
}

/** Returns whether the error is a defect of Parley. Only then does its stack help. */
function isDefect(error: Error): boolean {
  return !(error instanceof UpstreamError) && !(error instanceof ParleyError && error.code !== 'internal_error');
}

function getFrames(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => line.startsWith('at ')).slice(0, maxFrames);
}

/**
 * Removes secrets from a log text: the known secrets, then text that looks like one. This is a last safeguard, because no
 * secret should reach the log.
 */
export function redact(text: string, secrets: Iterable<Secret>): string {
  let result = text;
  for (const secret of secrets) {
    const value = secret.reveal();
    if (value.length >= minSecretLength && result.includes(value)) result = result.replaceAll(value, '***');
  }
  for (const [pattern, replacement] of secretPatterns) result = result.replace(pattern, replacement);
  return result;
}
