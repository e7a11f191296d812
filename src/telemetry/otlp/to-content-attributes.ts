import type { Attributes } from '@opentelemetry/api';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import type { CallContent } from '#domain/usage/call-content.ts';

/** A part of a message as OpenTelemetry's conventions for generative AI define it. */
type Part = { readonly type: string; readonly [field: string]: unknown };

/**
 * Returns `gen_ai.input.messages` and `gen_ai.output.messages` as JSON, because exporters do not support nested attributes. The
 * content is already bounded.
 */
export function toContentAttributes({ request, reply }: CallContent): Attributes {
  const attributes: Attributes = { 'gen_ai.input.messages': JSON.stringify(listObjects(request.messages).map(toMessage)) };
  if (reply === null) return attributes;
  const output = listObjects(reply.choices).map(({ message, finish_reason: reason }) => ({
    ...toMessage(isJsonObject(message) ? message : {}),
    finish_reason: reason === 'tool_calls' || reason === 'function_call' ? 'tool_call' : (reason ?? 'error'),
  }));
  return { ...attributes, 'gen_ai.output.messages': JSON.stringify(output) };
}

function toMessage(message: JsonObject): { readonly role: string; readonly parts: readonly Part[] } {
  const { content, reasoning_content: reasoning, refusal, tool_call_id: id } = message;
  const role = typeof message.role === 'string' ? message.role : 'assistant';
  const contentParts = typeof content === 'string' ? toTextParts('text', content) : listObjects(content).map(toPart);
  if (role === 'tool') {
    const response = typeof content === 'string' ? content : contentParts;
    return { role, parts: [{ type: 'tool_call_response', id, response }] };
  }
  const calls = listObjects(message.tool_calls).map(toCallPart);
  return {
    role: role === 'developer' ? 'system' : role,
    parts: [...toTextParts('reasoning', reasoning), ...contentParts, ...toTextParts('text', refusal), ...calls],
  };
}

function toTextParts(type: 'text' | 'reasoning', content: unknown): readonly Part[] {
  return typeof content === 'string' && content !== '' ? [{ type, content }] : [];
}

function toPart(part: JsonObject): Part {
  const { text, image_url: image } = part;
  const type = typeof part.type === 'string' ? part.type : 'unknown';
  if (type === 'text') return { type, content: text };
  if (type === 'image_url' && isJsonObject(image)) return { type: 'uri', modality: 'image', uri: image.url };
  return { ...part, type };
}

function toCallPart({ id, function: called, custom }: JsonObject): Part {
  const { name, arguments: text, input } = isJsonObject(called) ? called : isJsonObject(custom) ? custom : {};
  const parsed = typeof text === 'string' ? (tryParseJson(text) ?? text) : input;
  return { type: 'tool_call', id, name, arguments: parsed };
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
