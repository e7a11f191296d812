import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Message } from '#contract/chat/message.ts';
import { findSchemaError, unusableSchema } from '#contract/schemas/schema-error.ts';

/** What an answer must be: JSON, of a schema if there is one. */
export interface AnswerFormat {
  readonly schema: JsonObject | undefined;
}

const fence = '```';

/** What `response_format` asks of an answer; undefined if any text will do. */
export function findAnswerFormat({ response_format: format }: ChatRequest): AnswerFormat | undefined {
  if (!isJsonObject(format) || (format.type !== 'json_object' && format.type !== 'json_schema')) return undefined;
  const described = format.type === 'json_schema' ? format.json_schema : undefined;
  return { schema: isJsonObject(described) && isJsonObject(described.schema) ? described.schema : undefined };
}

/** The JSON that an answer is, without a code fence around it; what is wrong with it, if it is not what was asked for. Any JSON is valid if the schema cannot be used. An answer that cannot be checked in time is not valid. */
export function parseAnswer(text: string, { schema }: AnswerFormat): { readonly json: string } | { readonly error: string } {
  const trimmed = text.trim();
  const json = removeFence(trimmed).trim();
  const value = tryParseJson(json);
  if (value === undefined) return { error: json === '' ? 'it is empty' : 'it is not JSON' };
  if (schema === undefined) return isJsonObject(value) ? { json } : { error: 'it is not a JSON object' };
  // Schemas of answers are those of objects; anything else is looked at as a member.
  const isObject = isJsonObject(value);
  const error = findSchemaError(isObject ? value : { value }, isObject ? schema : { properties: { value: schema } }, {
    name: 'answer',
  });
  return error === undefined || error === unusableSchema ? { json } : { error: error };
}

/** Returns the text inside a code fence with no language or `json`, or the text itself if it has no such fence. */
function removeFence(text: string): string {
  const lineEnd = text.indexOf('\n');
  if (lineEnd === -1 || !text.startsWith(fence) || !text.endsWith(fence)) return text;
  const language = text.slice(fence.length, lineEnd).trim().toLowerCase();
  return language === '' || language === 'json' ? text.slice(lineEnd, -fence.length) : text;
}

/** What a model is told behind its draft so that it answers in the form asked for. */
export function toFormatMessages(draft: string, error: string): Message[] {
  const request = `Now give your answer in the form that was asked for: JSON alone, with no words and no code fence around it. What you said cannot be used: ${error}.`;
  return [...(draft === '' ? [] : [{ role: 'assistant' as const, content: draft }]), { role: 'user', content: request }];
}
