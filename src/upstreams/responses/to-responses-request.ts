import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainRequest } from '#contract/chat/content.ts';
import { type ContentPart, getToolCalls, isResult, type Message } from '#contract/chat/message.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { listCalls } from '../prompt/message-calls.ts';
import { listForeignTools, omitForeignTools, selectTools } from '../prompt/select-tools.ts';

/** Minimum of `max_output_tokens` in OpenAI's API. */
const minTokens = 16;
/** Fields with the same name in the dialect. */
const sameFields = [
  ...['temperature', 'top_p', 'user', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key', 'stream'],
  ...['prompt_cache_retention', 'parallel_tool_calls', 'top_logprobs'],
];
const convertedFields: ReadonlySet<string> = new Set([
  ...sameFields,
  ...['model', 'messages', 'tools', 'tool_choice', 'response_format', 'reasoning_effort', 'verbosity', 'max_tokens'],
  ...['max_completion_tokens', 'store', 'stream_options', 'n', 'functions', 'function_call', 'logprobs'],
]);

/**
 * Converts a chat completions request to the dialect, with `store` off. Throws `UpstreamError` with the status 400 for
 * content that the dialect does not support.
 */
export function toResponsesRequest(request: ChatRequest, model: string): JsonObject {
  const { messages } = toPlainRequest(request);
  const customCalls = new Set(messages.flatMap(getToolCalls).flatMap(({ id, custom }) => (isJsonObject(custom) ? [id] : [])));
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  return {
    model,
    input: messages.flatMap((message, index) => {
      const path = `messages[${index}].content`;
      return isResult(message) ? [toResult(message, path, customCalls)] : toItems(message, path);
    }),
    store: false,
    ...Object.fromEntries(sameFields.filter((field) => request[field] !== undefined).map((field) => [field, request[field]])),
    ...(typeof maxTokens === 'number' && { max_output_tokens: Math.max(minTokens, maxTokens) }),
    ...(request.reasoning_effort !== undefined && { reasoning: { effort: request.reasoning_effort } }),
    ...(request.logprobs === true && { include: ['message.output_text.logprobs'] }),
    ...toTextConfig(request),
    ...toTools(request),
  };
}

/** Returns the fields of a request that are dropped. */
export function listIgnoredFields(request: ChatRequest): string[] {
  return [...Object.keys(request).filter((field) => !convertedFields.has(field)), ...listForeignTools(request, isForeignTool)];
}

function toItems(message: Message, path: string): JsonObject[] {
  const { role, content } = message;
  if (role !== 'assistant') return [{ type: 'message', role, content: toParts(content, path) }];
  const outputParts = toParts(content, path).map(({ text }) => ({ type: 'output_text', text }));
  return [...(outputParts.length > 0 ? [{ type: 'message', role, content: outputParts }] : []), ...toCalls(message)];
}

/** Returns the result of a call, with the type that matches the call. */
function toResult({ content, tool_call_id: id }: Message, path: string, customCalls: ReadonlySet<unknown>): JsonObject {
  const type = customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: id ?? '', output: toOutput(content, path) };
}

function toCalls(message: Message): JsonObject[] {
  const custom = getToolCalls(message).flatMap(({ id: call_id, custom: customCall }) =>
    isJsonObject(customCall) ? [{ type: 'custom_tool_call', call_id, name: customCall.name, input: customCall.input ?? '' }] : [],
  );
  const functions = listCalls(message).map(({ id: call_id, name, source: { function: calledFunction } }) => {
    const args = isJsonObject(calledFunction) && typeof calledFunction.arguments === 'string' ? calledFunction.arguments : '{}';
    return { type: 'function_call', call_id, name, arguments: args };
  });
  return [...functions, ...custom];
}

function toOutput(content: Message['content'], path: string): unknown {
  const parts = toParts(content, path);
  return parts.every(({ type }) => type === 'input_text') ? parts.map(({ text }) => text).join('\n') : parts;
}

function toParts(content: Message['content'], path: string): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'input_text', text: content }];
  return (content ?? []).map((part, index) => toPart(part, `${path}[${index}]`));
}

function toPart(part: ContentPart, path: string): JsonObject {
  const { type, text, refusal, image_url: image, file } = part;
  if (type === 'text') return { type: 'input_text', text };
  if (type === 'refusal') return { type: 'input_text', text: refusal };
  if (type === 'image_url' && isJsonObject(image)) {
    const { url, detail } = image;
    return { type: 'input_image', image_url: url, ...(detail !== undefined && { detail }) };
  }
  if (type === 'file' && isJsonObject(file)) return { type: 'input_file', ...file };
  throw new UpstreamError('refused', `${path}.type is ${type}, which this upstream does not support.`, {
    status: 400,
    param: `${path}.type`,
  });
}

function toTextConfig({ response_format: format, verbosity }: ChatRequest): JsonObject {
  const text = { ...(verbosity !== undefined && { verbosity }), ...(isJsonObject(format) && { format: toFormat(format) }) };
  return Object.keys(text).length === 0 ? {} : { text };
}

function toFormat({ type, json_schema: schema }: JsonObject): JsonObject {
  return type === 'json_schema' && isJsonObject(schema) ? { type, ...schema } : { type };
}

/** Returns whether Anthropic runs a tool, such as `web_search_20250305`. */
function isForeignTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && /_\d{8}$/.test(type);
}

function toTools(request: ChatRequest): JsonObject {
  const { tools, tool_choice: choice } = request;
  if (!Array.isArray(tools)) return {};
  omitForeignTools(selectTools(request), isForeignTool);
  const offeredTools = tools
    .filter(isJsonObject)
    .filter((tool) => !isForeignTool(tool))
    .map(toTool);
  if (offeredTools.length === 0 && tools.length > 0) return {};
  return { tools: offeredTools, ...(choice !== undefined && { tool_choice: toChoice(choice) }) };
}

/** Sets `strict` to false, because the default of the dialect is true and the schema may not be written for it. */
function toTool(tool: JsonObject): JsonObject {
  const { type, function: functionTool, custom } = tool;
  if (type === 'function' && isJsonObject(functionTool)) return { type, strict: false, ...functionTool };
  return type === 'custom' && isJsonObject(custom) ? { type, ...custom } : tool;
}

function toChoice(choice: unknown): unknown {
  if (!isJsonObject(choice)) return choice;
  const { type, function: functionChoice, custom } = choice;
  const target = functionChoice ?? custom;
  return isJsonObject(target) ? { type, name: target.name } : choice;
}
