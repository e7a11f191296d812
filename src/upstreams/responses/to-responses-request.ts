import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainMessages } from '#contract/chat/content.ts';
import { type ContentPart, isResult, type Message, toolCallsOf } from '#contract/chat/message.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { callsOf } from '../prompt/message-calls.ts';

/** The smallest bound of an answer that OpenAI's API takes. */
const leastTokens = 16;
/** Fields that the dialect has under the same name. */
const same = [
  ...['temperature', 'top_p', 'user', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key', 'stream'],
  ...['prompt_cache_retention', 'parallel_tool_calls', 'top_logprobs'],
];
const carried: ReadonlySet<string> = new Set([
  ...same,
  ...['model', 'messages', 'tools', 'tool_choice', 'response_format', 'reasoning_effort', 'verbosity', 'max_tokens'],
  ...['max_completion_tokens', 'store', 'stream_options', 'n', 'functions', 'function_call', 'logprobs'],
]);

/** A request of the compat wire in the dialect; nothing of it is stored there. Throws UpstreamFault 400 for content that the dialect does not have. */
export function toResponsesRequest(request: ChatRequest, model: string): JsonObject {
  const { messages } = toPlainMessages(request);
  const customCalls = new Set(messages.flatMap(toolCallsOf).flatMap(({ id, custom }) => (isJsonObject(custom) ? [id] : [])));
  const bound = request.max_completion_tokens ?? request.max_tokens;
  return {
    model,
    input: messages.flatMap((message, index) => {
      const at = `messages[${index}].content`;
      return isResult(message) ? [toResult(message, at, customCalls)] : toItems(message, at);
    }),
    store: false,
    ...Object.fromEntries(same.filter((field) => request[field] !== undefined).map((field) => [field, request[field]])),
    ...(typeof bound === 'number' && { max_output_tokens: Math.max(leastTokens, bound) }),
    ...(request.reasoning_effort !== undefined && { reasoning: { effort: request.reasoning_effort } }),
    ...(request.logprobs === true && { include: ['message.output_text.logprobs'] }),
    ...toText(request),
    ...toTools(request),
  };
}

/** Fields of a request that are left out. */
export function ignoredFields(request: ChatRequest): string[] {
  return Object.keys(request).filter((field) => !carried.has(field));
}

function toItems(message: Message, at: string): JsonObject[] {
  const { role, content } = message;
  if (role !== 'assistant') return [{ type: 'message', role, content: toParts(content, at) }];
  const said = toParts(content, at).map(({ text }) => ({ type: 'output_text', text }));
  return [...(said.length > 0 ? [{ type: 'message', role, content: said }] : []), ...toCalls(message)];
}

/** The result of a call, of the type that the call has. */
function toResult({ content, tool_call_id: id }: Message, at: string, customCalls: ReadonlySet<unknown>): JsonObject {
  const type = customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: id ?? '', output: toOutput(content, at) };
}

function toCalls(message: Message): JsonObject[] {
  const custom = toolCallsOf(message).flatMap(({ id: call_id, custom: asked }) =>
    isJsonObject(asked) ? [{ type: 'custom_tool_call', call_id, name: asked.name, input: asked.input ?? '' }] : [],
  );
  const functions = callsOf(message).map(({ id: call_id, name, given: { function: asked } }) => {
    const args = isJsonObject(asked) && typeof asked.arguments === 'string' ? asked.arguments : '{}';
    return { type: 'function_call', call_id, name, arguments: args };
  });
  return [...functions, ...custom];
}

function toOutput(content: Message['content'], at: string): unknown {
  const parts = toParts(content, at);
  return parts.every(({ type }) => type === 'input_text') ? parts.map(({ text }) => text).join('\n') : parts;
}

function toParts(content: Message['content'], at: string): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'input_text', text: content }];
  return (content ?? []).map((part, index) => toPart(part, `${at}[${index}]`));
}

function toPart(part: ContentPart, at: string): JsonObject {
  const { type, text, refusal, image_url: image, file } = part;
  if (type === 'text') return { type: 'input_text', text };
  if (type === 'refusal') return { type: 'input_text', text: refusal };
  if (type === 'image_url' && isJsonObject(image)) {
    const { url, detail } = image;
    return { type: 'input_image', image_url: url, ...(detail !== undefined && { detail }) };
  }
  if (type === 'file' && isJsonObject(file)) return { type: 'input_file', ...file };
  throw new UpstreamFault('refused', `${at}.type is ${type}, which this upstream does not take.`, {
    status: 400,
    param: `${at}.type`,
  });
}

function toText({ response_format: asked, verbosity }: ChatRequest): JsonObject {
  const length = verbosity === undefined ? {} : { verbosity };
  const format = isJsonObject(asked) ? toFormat(asked) : undefined;
  return format === undefined && verbosity === undefined ? {} : { text: { ...length, ...(format && { format }) } };
}

function toFormat({ type, json_schema: schema }: JsonObject): JsonObject {
  return type === 'json_schema' && isJsonObject(schema) ? { type, ...schema } : { type };
}

function toTools({ tools, tool_choice: choice }: ChatRequest): JsonObject {
  if (!Array.isArray(tools)) return {};
  const offered = tools.filter(isJsonObject).map(toTool);
  return { tools: offered, ...(choice !== undefined && { tool_choice: toChoice(choice) }) };
}

/** Unless it is said otherwise, the dialect would have a schema kept to that was not written for it. */
function toTool(tool: JsonObject): JsonObject {
  const { type, function: asked, custom } = tool;
  if (type === 'function' && isJsonObject(asked)) return { type, strict: false, ...asked };
  return type === 'custom' && isJsonObject(custom) ? { type, ...custom } : tool;
}

function toChoice(choice: unknown): unknown {
  if (!isJsonObject(choice)) return choice;
  const { type, function: asked, custom } = choice;
  const named = asked ?? custom;
  return isJsonObject(named) ? { type, name: named.name } : choice;
}
