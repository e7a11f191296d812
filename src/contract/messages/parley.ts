import type { JsonObject } from '#base/json/json.ts';
import type { Statistics } from '../chat/chunk.ts';
import type { CustomContent } from '../chat/message.ts';
import { parseMessage } from '../chat/parse-message.ts';

/**
 * What a reply of Parley has and the dialect has no place for, as the field `parley` of a message, of the events
 * `ping` (increments) and `message_delta` (the whole). Clients that do not know it pass over it.
 */
export interface Parley {
  /** Stages, attachments, controls and state. */
  custom_content?: object;
  /** `usage_per_model`. */
  statistics?: Statistics;
}

/** The custom content that a message of a request carries in `parley`. Throws invalid_request. */
export function parseParley(
  role: 'user' | 'assistant' | 'system',
  { custom_content }: JsonObject,
  at: string,
): CustomContent | undefined {
  return parseMessage({ role, content: '', custom_content }, at).custom_content;
}
