import { hash } from 'node:crypto';
import { isJsonObject } from '#base/json.ts';

/** The same text for all turns of one conversation of a user: what a prompt cache goes by. */
export function conversationPrefix(body: unknown, subject: string): string {
  const { system, messages } = isJsonObject(body) ? body : {};
  const [first] = Array.isArray(messages) ? messages : [];
  return hash('sha256', JSON.stringify([subject, system, first]), 'base64url');
}
