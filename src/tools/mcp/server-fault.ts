import { AddressRefused } from '#base/net/net-guard.ts';
import { truncate } from '#base/text/shorten.ts';
import { ToolFault, type ToolFaultReason } from '#domain/tools/tool.ts';

/** Code of the answer that takes the place of one whose stream ended without it. */
export const brokenOffCode = -32_990;
/** The same of one that came in one piece and answers something else. */
export const unansweredCode = -32_991;
/** The same of a page of a list that is too long to read. */
export const tooLongCode = -32_992;
const ownCodes: ReadonlySet<number> = new Set([brokenOffCode, unansweredCode, tooLongCode]);

const longestMessage = 1000;
const noMcp: Trouble = ['does not speak MCP', 'other_protocol'];

/** A server did not say anything in the time that it had. */
export class MuteServerFault extends ToolFault {
  readonly what: string;

  constructor(server: string, what: string, cause?: unknown) {
    super(`The MCP server ${server} ${what}.`, cause, 'mute');
    this.what = what;
  }
}

/** What is wrong with a server: how the sentence goes on that begins with its name, and what that is to programs. */
type Trouble = readonly [what: string, reason: ToolFaultReason];

/** What is wrong with a server, as a sentence that begins with its name; a text alone is a failure of no other kind. */
export function serverFault(server: string, trouble: string | Trouble, cause?: unknown): ToolFault {
  const [what, reason] = typeof trouble === 'string' ? ([trouble, 'failed'] as const) : trouble;
  return new ToolFault(`The MCP server ${server} ${what}.`, cause, reason);
}

/**
 * The same for whatever a call of it threw; says nothing that could hold a secret, but for the server's own words. `otherwise`
 * is said of what is not known.
 */
export function toServerFault(server: string, thrown: unknown, otherwise: Trouble = noMcp): ToolFault {
  const causes = [...causesOf(thrown)];
  const told = causes.find((cause) => cause instanceof ToolFault);
  return told ?? serverFault(server, causes.map(explain).find((trouble) => trouble !== undefined) ?? otherwise, thrown);
}

/** The server's own words, if it answered a request with an error. */
export function refusalOf(thrown: unknown): string | undefined {
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  const isRefusal = thrown instanceof Error && typeof code === 'number' && code < 0 && !ownCodes.has(code);
  return isRefusal ? truncate(String(message), longestMessage) : undefined;
}

/** The HTTP status that a request failed with. */
export function statusOf(thrown: unknown): number | undefined {
  const { code, data } = thrown as { code?: unknown; data?: { status?: unknown } };
  const status = typeof code === 'number' ? code : data?.status;
  return thrown instanceof Error && typeof status === 'number' && status >= 300 && status < 600 ? status : undefined;
}

/** Yields an error and its causes. */
export function* causesOf(thrown: unknown): Iterable<Error> {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) yield cause;
}

const phrases: ReadonlyMap<unknown, Trouble> = new Map<unknown, Trouble>([
  [brokenOffCode, ['broke off its answer', 'failed']],
  [unansweredCode, ['did not answer what it was asked', 'failed']],
  [tooLongCode, ['lists more than 100,000 values in one page, which is more than Parley reads', 'failed']],
  ['ECONNREFUSED', ['could not be reached: the connection was refused', 'unreachable']],
  ['ENOTFOUND', ['could not be reached: its host name is not known', 'unreachable']],
  ['EAI_AGAIN', ['could not be reached: its host name could not be looked up', 'unreachable']],
  ['ETIMEDOUT', ['could not be reached: no connection in time', 'unreachable']],
  ['UND_ERR_CONNECT_TIMEOUT', ['could not be reached: no connection in time', 'unreachable']],
  ['ECONNRESET', ['broke off the connection', 'failed']],
  ['UND_ERR_SOCKET', ['broke off the connection', 'failed']],
  ['CONNECTION_CLOSED', ['broke off the connection', 'failed']],
  ['REQUEST_TIMEOUT', ['did not answer in time', 'mute']],
  ['LIST_PAGINATION_EXCEEDED', ['lists its tools without end', 'failed']],
]);

function explain(cause: Error): Trouble | undefined {
  if (cause instanceof AddressRefused) return [`may not be called: ${cause.message}`, 'address_refused'];
  const { code } = cause as { code?: unknown };
  if (typeof code === 'string' && /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code))
    return ['has a certificate that is not trusted', 'unreachable'];
  const status = statusOf(cause);
  const refusal = refusalOf(cause);
  if (status !== undefined) return explainStatus(status);
  const phrase = phrases.get(code);
  return phrase ?? (refusal === undefined ? undefined : [`answered with an error: ${refusal.replace(/\.$/, '')}`, 'failed']);
}

function explainStatus(status: number): Trouble {
  if (status < 400) return ['redirects to another address, which is not followed', 'other_protocol'];
  const isOther = status === 404 || status === 405;
  const hint = isOther ? '; perhaps it speaks the other protocol, or has another address' : '';
  return [`answered HTTP ${status}${hint}`, isOther ? 'other_protocol' : 'failed'];
}
