import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { StoredResponse } from '#domain/responses/response-store.ts';
import { toList } from './stored-pages.ts';

/** Characters of what was asked that a list shows. */
const shownChars = 200;

/** A page of what was made in the background, as it is answered. */
export function toBackgroundList(listed: readonly StoredResponse[], limit: number): JsonObject {
  return toList(listed.slice(0, limit).map(toSummary), listed.length > limit);
}

/** What is told of a response in a list. */
function toSummary({ id, status, response, input }: StoredResponse): JsonObject {
  const { object, created_at, completed_at = null, model, background, error = null } = response;
  return { id, object, status, created_at, completed_at, model, background, error, asked: toAsked(input) };
}

/** How the last message that a user said begins; null if the request brought none. */
function toAsked(input: readonly JsonObject[]): string | null {
  const said = input.findLast(({ type = 'message', role }) => type === 'message' && role === 'user');
  if (said === undefined) return null;
  const parts = Array.isArray(said.content) ? said.content.filter(isJsonObject) : [{ text: said.content }];
  const texts = parts.map(({ text }) => text).filter((text) => typeof text === 'string');
  const text = texts.join(' ').replace(/\s+/g, ' ').trim();
  return [...text].slice(0, shownChars).join('');
}
