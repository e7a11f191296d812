import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Message } from '#contract/chat/message.ts';
import { findSchemaError, unusableSchema } from '#contract/schemas/schema-error.ts';

/** Required format of an answer: JSON that matches the schema. If the schema is undefined, the answer must be a JSON object. */
export interface AnswerFormat {
  readonly schema: JsonObject | undefined;
}

const fence = '```';

/** Returns the format that `response_format` requires, or undefined if any text is valid. */
export function findAnswerFormat({ response_format: format }: ChatRequest): AnswerFormat | undefined {
  if (!isJsonObject(format) || (format.type !== 'json_object' && format.type !== 'json_schema')) return undefined;
  const jsonSchema = format.type === 'json_schema' ? format.json_schema : undefined;
  return { schema: isJsonObject(jsonSchema) && isJsonObject(jsonSchema.schema) ? jsonSchema.schema : undefined };
}

/**
 * Returns the JSON of an answer without a surrounding code fence, or the error if the answer does not have the required format.
 * If the schema is unusable, any JSON is valid. If the schema check exceeds its time limit, the answer is invalid.
 */
export function parseAnswer(text: string, { schema }: AnswerFormat): { readonly json: string } | { readonly error: string } {
  const trimmed = text.trim();
  const json = removeFence(trimmed).trim();
  const value = tryParseJson(json);
  if (value === undefined) return { error: json === '' ? 'it is empty' : 'it is not JSON' };
  if (schema === undefined) return isJsonObject(value) ? { json } : { error: 'it is not a JSON object' };
  // Schemas of answers describe objects, so any other value is checked as a member of an object.
  const isObject = isJsonObject(value);
  const error = findSchemaError(isObject ? value : { value }, isObject ? schema : { properties: { value: schema } }, {
    name: 'answer',
  });
  return error === undefined || error === unusableSchema ? { json } : { error };
}

/** Returns the text inside a code fence with no language or `json`, or the text itself if it has no such fence. */
function removeFence(text: string): string {
  const lineEnd = text.indexOf('\n');
  if (lineEnd === -1 || !text.startsWith(fence) || !text.endsWith(fence)) return text;
  const language = text.slice(fence.length, lineEnd).trim().toLowerCase();
  return language === '' || language === 'json' ? text.slice(lineEnd, -fence.length) : text;
}

/** Returns messages to append after a draft, so that the model repeats its answer in the required format. */
export function toFormatMessages(draft: string, error: string): Message[] {
  const request = `Now give your answer in the requested format: only JSON, without other words and without a code fence. Your previous answer is not valid: ${error}.`;
  return [...(draft === '' ? [] : [{ role: 'assistant' as const, content: draft }]), { role: 'user', content: request }];
}
