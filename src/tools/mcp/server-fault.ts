import { AddressRefused } from '#base/net-guard.ts';
import { ToolFault } from '#domain/tools/tool.ts';

/** Code of the answer that takes the place of one whose stream ended without it. */
export const brokenOffCode = -32_990;
/** The same of one that came in one piece and answers something else. */
export const unansweredCode = -32_991;

const longestMessage = 1000;

/** A server did not say anything in the time that it had. */
export class MuteServerFault extends ToolFault {
  readonly what: string;

  constructor(server: string, what: string, cause?: unknown) {
    super(`The MCP server ${server} ${what}.`, cause);
    this.what = what;
  }
}

/** What is wrong with a server, as a sentence that begins with its name. */
export function serverFault(server: string, what: string, cause?: unknown): ToolFault {
  return new ToolFault(`The MCP server ${server} ${what}.`, cause);
}

/**
 * The same for whatever a call of it threw; says nothing that could hold a secret, but for the server's own words. `otherwise`
 * is said of what is not known.
 */
export function toServerFault(server: string, thrown: unknown, otherwise = 'does not speak MCP'): ToolFault {
  const causes = [...causesOf(thrown)];
  const told = causes.find((cause) => cause instanceof ToolFault);
  return told ?? serverFault(server, causes.map(explain).find((what) => what !== undefined) ?? otherwise, thrown);
}

/** The server's own words, if it answered a request with an error. */
export function refusalOf(thrown: unknown): string | undefined {
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  const isRefusal =
    thrown instanceof Error && typeof code === 'number' && code < 0 && code !== brokenOffCode && code !== unansweredCode;
  return isRefusal ? shorten(String(message)) : undefined;
}

/** The HTTP status that a request failed with. */
export function statusOf(thrown: unknown): number | undefined {
  const { code, data } = thrown as { code?: unknown; data?: { status?: unknown } };
  const status = typeof code === 'number' ? code : data?.status;
  return thrown instanceof Error && typeof status === 'number' && status >= 300 && status < 600 ? status : undefined;
}

function* causesOf(thrown: unknown): Iterable<Error> {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) yield cause;
}

const phrases: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [brokenOffCode, 'broke off its answer'],
  [unansweredCode, 'did not answer what it was asked'],
  ['ECONNREFUSED', 'could not be reached: the connection was refused'],
  ['ENOTFOUND', 'could not be reached: its host name is not known'],
  ['EAI_AGAIN', 'could not be reached: its host name could not be looked up'],
  ['ETIMEDOUT', 'could not be reached: no connection in time'],
  ['UND_ERR_CONNECT_TIMEOUT', 'could not be reached: no connection in time'],
  ['ECONNRESET', 'broke off the connection'],
  ['UND_ERR_SOCKET', 'broke off the connection'],
  ['CONNECTION_CLOSED', 'broke off the connection'],
  ['REQUEST_TIMEOUT', 'did not answer in time'],
  ['LIST_PAGINATION_EXCEEDED', 'lists its tools without end'],
]);

function explain(cause: Error): string | undefined {
  if (cause instanceof AddressRefused) return `may not be called: ${cause.message}`;
  const { code } = cause as { code?: unknown };
  if (typeof code === 'string' && /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code)) return 'has a certificate that is not trusted';
  const status = statusOf(cause);
  const refusal = refusalOf(cause);
  if (status !== undefined) return explainStatus(status);
  return phrases.get(code) ?? (refusal && `answered with an error: ${refusal.replace(/\.$/, '')}`);
}

function explainStatus(status: number): string {
  if (status < 400) return 'redirects to another address, which is not followed';
  const hint = status === 404 || status === 405 ? '; perhaps it speaks the other protocol, or has another address' : '';
  return `answered HTTP ${status}${hint}`;
}

function shorten(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage)}…`;
}
