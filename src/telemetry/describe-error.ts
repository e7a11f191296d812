import { ParleyError } from '#contract/errors.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

const deepestCause = 5;
const longestMessage = 500;
const mostFrames = 12;
const withheld = '(not logged: it may quote content)';
/** An upstream's own code may be anything. */
const isCode = /^[\w.-]{1,64}$/;

/** An error as the log has it. */
export interface DescribedError {
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
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: showsForeignWords ? cut(String(thrown)) : withheld };
  const { code, kind, status } = thrown as { code?: unknown; kind?: unknown; status?: unknown };
  const cause = depth < deepestCause ? thrown.cause : undefined;
  return {
    name: thrown.name,
    message: showsForeignWords || !mayQuote(thrown) ? cut(thrown.message) : withheld,
    ...(typeof code === 'string' && (showsForeignWords || isCode.test(code)) && { code: cut(code) }),
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

function cut(text: string): string {
  return text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text;
}
