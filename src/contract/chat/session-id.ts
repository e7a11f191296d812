import { isJsonObject, tryParseJson } from '#base/json/json.ts';

/** Header fields in which coding agents send their session ID, in order of preference. */
const sessionHeaders = ['x-claude-code-session-id', 'session_id', 'session-id', 'conversation_id', 'x-conversation-id'];
const sessionIdPattern = /^[\x21-\x7e]{1,128}$/;
/** Mark in the user ID of older versions of Claude Code, before they sent JSON: `user_<hash>_account_<id>_session_<id>`. */
const sessionMark = '_session_';

/** Returns the session or conversation ID from the header fields. */
export function findSessionInHeaders(headers: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of sessionHeaders) {
    const id = toSessionId(headers[name]);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Returns the session ID from `metadata.user_id` of a Messages request. */
export function findSessionInMetadata({ metadata }: { readonly metadata?: unknown }): string | undefined {
  const user = isJsonObject(metadata) ? metadata.user_id : undefined;
  if (typeof user !== 'string') return undefined;
  if (user.startsWith('{')) {
    const parsed = tryParseJson(user);
    return isJsonObject(parsed) ? toSessionId(parsed.session_id) : undefined;
  }
  const at = user.lastIndexOf(sessionMark);
  return at === -1 ? undefined : toSessionId(user.slice(at + sessionMark.length));
}

/** Returns the value if it is a valid session ID. */
export function toSessionId(value: unknown): string | undefined {
  return typeof value === 'string' && sessionIdPattern.test(value) ? value : undefined;
}
