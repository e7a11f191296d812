import { ToolError } from '#domain/tools/tool.ts';
import { createServerError, getHttpStatus, listCauses } from './server-error.ts';

/** MCP requires 404. Many servers return 400 and some 410, often without a reason. */
const forgottenStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 410]);
const maxReasonChars = 2000;
const unknownPhrases =
  'not found|unknown|invalid|no valid|no such|no transport|could not find|not exist|not recognized|expired|terminated|closed|no longer|not active|not (?:yet )?initialized';
// Pattern bound: a text of at most 2000 characters, and gaps of at most 200.
const forgottenSessionPattern = new RegExp(
  `session.{0,200}?(?:${unknownPhrases})|(?:${unknownPhrases}).{0,40}?session|server (?:is )?not (?:yet )?initialized`,
  'is',
);

/** The server rejected credentials or access only because it does not know the session. */
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

/** Detects HTTP errors of the SDK, which start with these words and contain the response text. */
function isHttpError({ message }: Error): boolean {
  return message.startsWith('Error POSTing to endpoint');
}

/** Matches the code for an invalid request, and codes that JSON-RPC reserves for servers. Errors of tools have other codes. */
function isSessionCode(error: Error & { readonly code?: unknown }): boolean {
  const { code } = error;
  return typeof code === 'number' && (code === -32_600 || (code <= -32_000 && code > -32_100));
}
