import { BlockedAddressError } from '#base/net/net-guard.ts';
import { truncate } from '#base/text/truncate.ts';
import { ToolError, type ToolErrorReason } from '#domain/tools/tool.ts';

/** Error code for a request whose stream ended without an answer. */
export const endedEarlyCode = -32_990;
/** Error code for a complete reply that does not answer the request. */
export const unansweredCode = -32_991;
/** Error code for a page of a list that is too long to read. */
export const tooLongCode = -32_992;
/** Error code for a list whose pages together are too large to read. */
export const tooLargeCode = -32_993;
const internalCodes: ReadonlySet<number> = new Set([endedEarlyCode, unansweredCode, tooLongCode, tooLargeCode]);

const maxMessageChars = 1000;
const notMcp: Problem = ['does not speak MCP', 'other_protocol'];

/** Error for a server that sent no response within its time limit. */
export class UnresponsiveServerError extends ToolError {
  readonly problem: string;

  constructor(server: string, problem: string, cause?: unknown) {
    super(`The MCP server ${server} ${problem}.`, cause, 'mute');
    this.problem = problem;
  }
}

/** A problem of a server: a phrase that follows the server's name, and a code for programs. */
type Problem = readonly [phrase: string, reason: ToolErrorReason];

/** Creates an error whose message starts with the server's name. A plain text has the reason `failed`. */
export function createServerError(server: string, problem: string | Problem, cause?: unknown): ToolError {
  const [phrase, reason] = typeof problem === 'string' ? ([problem, 'failed'] as const) : problem;
  return new ToolError(`The MCP server ${server} ${phrase}.`, cause, reason);
}

/**
 * Converts any error of a call to a `ToolError`. The message contains no secrets, because `normalizeReplies` masks the server's
 * own words. `fallback` describes unknown errors.
 */
export function toServerError(server: string, error: unknown, fallback: Problem = notMcp): ToolError {
  const causes = [...listCauses(error)];
  const toolError = causes.find((cause) => cause instanceof ToolError);
  if (toolError !== undefined) return toolError;
  const problem = causes.map(findProblem).find((candidate) => candidate !== undefined) ?? fallback;
  return createServerError(server, problem, error);
}

/** Returns the server's own message, with masked credentials, if the server answered with an error. */
export function getServerMessage(error: unknown): string | undefined {
  return isJsonRpcError(error) && !internalCodes.has(error.code) ? truncate(error.message, maxMessageChars) : undefined;
}

/** Returns the HTTP status of a failed request. A JSON-RPC error has none, even if its code or data looks like one. */
export function getHttpStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || isJsonRpcError(error)) return undefined;
  const { code, data } = error as { code?: unknown; data?: { status?: unknown } };
  const status = typeof code === 'number' ? code : data?.status;
  return typeof status === 'number' && status >= 300 && status < 600 ? status : undefined;
}

/** Detects JSON-RPC errors. The SDK is loaded later, so its class is not available. */
function isJsonRpcError(error: unknown): error is Error & { readonly code: number } {
  return error instanceof Error && error.name === 'ProtocolError';
}

/** Yields an error and its causes. */
function* listCauses(error: unknown): Iterable<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

const problemsByCode: ReadonlyMap<unknown, Problem> = new Map<unknown, Problem>([
  [endedEarlyCode, ['ended its response early', 'failed']],
  [unansweredCode, ['did not answer the request', 'failed']],
  [tooLongCode, ['lists more than 100,000 values in one page, which is more than Parley reads', 'failed']],
  [tooLargeCode, ['sends lists of more than 16 MiB, which is more than Parley reads', 'failed']],
  ['ECONNREFUSED', ['could not be reached: the connection was refused', 'unreachable']],
  ['ENOTFOUND', ['could not be reached: its host name is not known', 'unreachable']],
  ['EAI_AGAIN', ['could not be reached: its host name could not be looked up', 'unreachable']],
  ['ETIMEDOUT', ['could not be reached: no connection in time', 'unreachable']],
  ['UND_ERR_CONNECT_TIMEOUT', ['could not be reached: no connection in time', 'unreachable']],
  ['ECONNRESET', ['closed the connection', 'failed']],
  ['UND_ERR_SOCKET', ['closed the connection', 'failed']],
  ['CONNECTION_CLOSED', ['closed the connection', 'failed']],
  ['REQUEST_TIMEOUT', ['did not answer in time', 'mute']],
  ['LIST_PAGINATION_EXCEEDED', ['returns too many pages of a list', 'failed']],
]);

function findProblem(cause: Error): Problem | undefined {
  if (cause instanceof BlockedAddressError) return [`cannot be called: ${cause.message}`, 'address_refused'];
  const { code } = cause as { code?: unknown };
  if (typeof code === 'string' && /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/.test(code))
    return ['has a certificate that is not trusted', 'unreachable'];
  const status = getHttpStatus(cause);
  if (status !== undefined) return toStatusProblem(status);
  const knownProblem = problemsByCode.get(code);
  const serverMessage = getServerMessage(cause);
  if (knownProblem !== undefined || serverMessage === undefined) return knownProblem;
  return [`answered with an error: ${serverMessage.replace(/\.$/, '')}`, 'failed'];
}

function toStatusProblem(status: number): Problem {
  if (status < 400) return ['redirects to another address, which is not followed', 'other_protocol'];
  const isOtherProtocol = status === 404 || status === 405;
  const hint = isOtherProtocol ? ', perhaps because it uses the other protocol or another address' : '';
  return [`answered HTTP ${status}${hint}`, isOtherProtocol ? 'other_protocol' : 'failed'];
}

/** Statuses for a request with an unknown session ID. MCP requires 404. Many servers return 400 and some 410. */
const forgottenStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 410]);
const maxReasonChars = 2000;
const forgottenPhrases =
  'not found|unknown|invalid|no valid|no such|no transport|could not find|not exist|not recognized|expired|terminated|closed|no longer|not active|not (?:yet )?initialized';
// Pattern bound: a text of at most 2000 characters, and gaps of at most 200.
const forgottenSessionPattern = new RegExp(
  `session.{0,200}?(?:${forgottenPhrases})|(?:${forgottenPhrases}).{0,40}?session|server (?:is )?not (?:yet )?initialized`,
  'is',
);

/** Error for a server that answered 401 or 403 only because it does not know the session. */
export class ForgottenSessionError extends ToolError {
  constructor(server: string, status: number) {
    super(createServerError(server, `no longer knows the session (HTTP ${status})`).message);
  }
}

/** Returns whether a text of a server reports that it does not know the session. */
export function reportsForgottenSession(text: string): boolean {
  return forgottenSessionPattern.test(text.slice(0, maxReasonChars));
}

/**
 * Returns whether a request failed because the server does not know the session: by its HTTP status, by the text of any other
 * status of 400 and above, or by a JSON-RPC error.
 */
export function isForgottenSession(error: unknown, { hasSessionId }: { readonly hasSessionId: boolean }): boolean {
  if ([...listCauses(error)].some((cause) => cause instanceof ForgottenSessionError)) return true;
  if (!(error instanceof Error)) return false;
  if (hasSessionId && forgottenStatuses.has(getHttpStatus(error))) return true;
  return (isHttpError(error) || isSessionCode(error)) && reportsForgottenSession(error.message);
}

/** Detects HTTP errors of the SDK, whose messages start with these words and contain the response text. */
function isHttpError({ message }: Error): boolean {
  return message.startsWith('Error POSTing to endpoint');
}

/** Matches the code for an invalid request, and codes that JSON-RPC reserves for servers. Errors of tools have other codes. */
function isSessionCode(error: Error & { readonly code?: unknown }): boolean {
  const { code } = error;
  return typeof code === 'number' && (code === -32_600 || (code <= -32_000 && code > -32_100));
}
