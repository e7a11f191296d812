import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { MessagesRequest } from '#contract/messages/dialect.ts';
import { requestFields } from './request-fields.ts';

/** Fields that are dropped because Parley does itself what they ask for. */
const done: ReadonlySet<string> = new Set(['stream_options', 'n', 'addons', 'functions', 'function_call']);
/** Values that ask for nothing. */
const neutral: readonly unknown[] = [null, undefined, false, 'none'];
const unpenalized: ReadonlySet<string> = new Set(['presence_penalty', 'frequency_penalty']);

/** The fields of a chat request whose say is lost in `body`, the same request in the Messages dialect. */
export function ignoredFields(request: ChatRequest, body: MessagesRequest): string[] {
  return Object.entries(request)
    .filter(([field, value]) => !isNeutral(field, value) && isIgnored(field, value, body))
    .map(([field]) => field);
}

function isNeutral(field: string, value: unknown): boolean {
  return neutral.includes(value) || (unpenalized.has(field) && value === 0) || (field === 'top_p' && value === 1);
}

function isIgnored(field: string, value: unknown, body: MessagesRequest): boolean {
  if (requestFields.get(field)?.fate === 'dropped') return !done.has(field);
  switch (field) {
    case 'temperature':
    case 'top_p':
      return body[field] !== value;
    case 'service_tier':
      return body.service_tier === undefined;
    case 'reasoning_effort':
      return body.thinking === undefined;
    case 'metadata':
      return isJsonObject(value) && Object.keys(value).some((key) => key !== 'user_id');
    default:
      return false;
  }
}
