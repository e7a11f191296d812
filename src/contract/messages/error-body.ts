import type { ContextOverflow } from '../errors/error-conditions.ts';
import type { ParleyError } from '../errors/errors.ts';
import type { MessagesError, MessagesErrorType } from './dialect.ts';

const types: ReadonlyMap<number, MessagesErrorType> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

type ToldError = Pick<ParleyError, 'status' | 'message' | 'param'> & Partial<Pick<ParleyError, 'displayMessage' | 'overflow'>>;

/** An error as the messages dialect words it: the type by status, the field at fault by its dotted path. */
export function toMessagesError(error: ToldError, requestId: string): MessagesError {
  const { status, displayMessage } = error;
  const type = types.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const display = displayMessage && { display_message: displayMessage };
  return { type: 'error', error: { type, message: toMessage(error), ...display }, request_id: requestId };
}

/** `messages[0].content must be …` becomes `messages.0.content: must be …`. */
function toMessage({ message, param, overflow }: ToldError): string {
  if (overflow !== undefined) return toOverflowMessage(message, overflow);
  if (param === null || !message.startsWith(`${param} `)) return message;
  return `${param.replace(/\[(\d+)\]/g, '.$1')}: ${message.slice(param.length + 1)}`;
}

const overflowWords = 'prompt is too long';

/** Clients of the dialect shorten a conversation only if they find these words. */
function toOverflowMessage(message: string, { actual, limit }: ContextOverflow): string {
  if (message.includes(overflowWords)) return message;
  if (actual !== undefined && limit !== undefined) return `${overflowWords}: ${actual} tokens > ${limit} maximum`;
  return `${overflowWords}: ${message}`;
}
