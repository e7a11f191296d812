import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { RawCompletion } from '#contract/chunk.ts';
import { toCall, toLogprobs } from './reply-parts.ts';
import { toFinishReason } from './response-reader.ts';
import { toUsage } from './to-usage.ts';

/** A whole response as a completion of the compat wire. */
export function toCompletion(response: JsonObject, createdSeconds: number): RawCompletion {
  const output = Array.isArray(response.output) ? response.output.filter(isJsonObject) : [];
  const parts = output
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .filter(isJsonObject);
  const calls = output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call').map(toCall);
  const thoughts = output.flatMap(({ type, summary }) => (type === 'reasoning' && Array.isArray(summary) ? summary : []));
  const refusal = textOf(parts, 'refusal', 'refusal');
  const reasoning = textOf(thoughts.filter(isJsonObject), 'summary_text', 'text', '\n\n');
  const annotations = parts.flatMap(toAnnotations);
  const message = {
    role: 'assistant',
    content: textOf(parts, 'output_text', 'text') || (calls.length > 0 || refusal !== '' ? null : ''),
    ...(refusal !== '' && { refusal }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(annotations.length > 0 && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const { id, model, created_at: created = createdSeconds } = response;
  const usage = toUsage(response.usage);
  return {
    id,
    object: 'chat.completion',
    created: typeof created === 'number' ? Math.floor(created) : createdSeconds,
    model,
    choices: [{ index: 0, message, finish_reason: toFinishReason(response, calls.length > 0), ...toLogprobs(parts) }],
    ...(usage && { usage }),
  };
}

function toAnnotations({ annotations }: JsonObject): JsonObject[] {
  const all = Array.isArray(annotations) ? annotations.filter(isJsonObject) : [];
  return all.filter(({ type }) => type === 'url_citation').map(({ type, ...url_citation }) => ({ type, url_citation }));
}

function textOf(parts: readonly JsonObject[], type: string, key: string, between = ''): string {
  return parts
    .filter((part) => part.type === type)
    .map((part) => String(part[key] ?? ''))
    .join(between);
}
