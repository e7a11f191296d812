import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Message } from '#contract/chat/message.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AdditionalTools, AnyItem } from '#contract/responses/input-items.ts';
import { includeValues, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isMcpTool, isOtherTool, type ResponsesTool } from '#contract/responses/tools.ts';
import { thoughtFields } from '#domain/upstreams/find-unsupported-thoughts.ts';
import { toMcpName } from './mcp-servers.ts';
import { OfferedTools } from './offered-tools.ts';
import { type TranslationContext, toMessages } from './to-messages.ts';

/** A request with its complete conversation. */
export interface ResolvedRequest extends Omit<TranslationContext, 'tools'> {
  readonly request: ResponsesRequest;
  /** Earlier items and the input. */
  readonly items: readonly AnyItem[];
}

export interface TranslatedRequest {
  readonly request: ChatRequest;
  readonly tools: OfferedTools;
  /** Names of omitted fields. */
  readonly ignored: readonly string[];
}

/** Fields with the same name in chat completions. */
const sameNameFields = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'safety_identifier',
  'stream',
] as const;
/** Fields that Parley converts or handles. Other fields are reported as ignored. */
const supportedFields: ReadonlySet<string> = new Set([
  ...sameNameFields,
  ...['model', 'input', 'instructions', 'include', 'stream_options', 'store', 'background', 'metadata', 'previous_response_id'],
  ...['conversation', 'max_output_tokens', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text', 'truncation'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'service_tier'],
]);

/** Converts a request to chat completions. Throws `invalid_request` for content that cannot be converted. */
export function toChatRequest({ request, items, ...context }: ResolvedRequest): TranslatedRequest {
  checkCalls(items, context.getPath);
  const { offeredTools: tools, fields, ignored } = toChatTools(request, listTools(request, items), context.mayBeRelayed);
  return {
    request: {
      messages: [...toInstructions(request), ...toMessages(items, { tools, ...context })],
      ...copySameNameFields(request),
      ...toTier(request),
      ...toTokenLimit(request),
      ...toReasoning(request),
      ...toText(request),
      ...fields,
    },
    tools,
    ignored: [...ignored, ...listIgnoredFields(request)],
  };
}

function toInstructions({ instructions }: ResponsesRequest): Message[] {
  return instructions === undefined || instructions === '' ? [] : [{ role: 'system', content: instructions }];
}

function copySameNameFields(request: ResponsesRequest): JsonObject {
  return Object.fromEntries(
    sameNameFields.filter((field) => request[field] !== undefined).map((field) => [field, request[field]]),
  );
}

/** Converts `service_tier`. Omits `auto` and `default`, which select the upstream's default and which some upstreams reject. */
function toTier({ service_tier }: ResponsesRequest): JsonObject {
  return service_tier === undefined || service_tier === 'auto' || service_tier === 'default' ? {} : { service_tier };
}

/** Converts `max_output_tokens`. Models with a reasoning effort accept the limit only under its newer name. */
function toTokenLimit({ max_output_tokens: limit, reasoning }: ResponsesRequest): Partial<ChatRequest> {
  if (limit === undefined) return {};
  return reasoning?.effort === undefined ? { max_tokens: limit } : { max_completion_tokens: limit };
}

function toReasoning({ reasoning }: ResponsesRequest): Partial<ChatRequest> {
  return reasoning?.effort === undefined ? {} : { reasoning_effort: reasoning.effort };
}

function toText({ text }: ResponsesRequest): Partial<ChatRequest> {
  const { format, verbosity } = text ?? {};
  const textOptions = verbosity === undefined ? {} : { verbosity };
  if (format === undefined || format.type === 'text') return textOptions;
  if (format.type === 'json_object') return { ...textOptions, response_format: { type: 'json_object' } };
  const { type, ...schema } = format;
  return { ...textOptions, response_format: { type, json_schema: schema } };
}

function listIgnoredFields(request: ResponsesRequest): string[] {
  const fields = Object.keys(request).filter((field) => !supportedFields.has(field) && (request[field] ?? null) !== null);
  const ownIncludes = new Set<string>(Object.values(includeValues));
  const included = (request.include ?? []).filter((name) => !ownIncludes.has(name)).map((name) => `include.${name}`);
  return [...fields, ...included];
}

const responsesFields: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  [thoughtFields.plain, 'input.reasoning'],
  [thoughtFields.signed, 'input.reasoning'],
]);

/** Returns the Responses API name of a chat completions field. */
export function toResponsesField(field: string): string {
  return responsesFields.get(field) ?? field;
}

/** Types of calls, by the type of their output. */
const callTypeByOutput: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
};
const callTypes: ReadonlySet<string> = new Set(Object.values(callTypeByOutput));

/**
 * Requires that each call is followed by its output, and each output is preceded by its call. Throws `invalid_request` with the
 * path of the first violation.
 */
function checkCalls(items: readonly AnyItem[], getPath: (item: AnyItem) => string): void {
  const openCalls = new Map<string, AnyItem>();
  for (const item of items) {
    const { type, call_id: id } = item as { type: string; call_id?: string };
    if (id === undefined) continue;
    const callType = callTypeByOutput[type];
    if (callTypes.has(type)) {
      if (openCalls.has(id)) throw createMissingOutputError(openCalls.get(id) ?? item, id, getPath);
      openCalls.set(id, item);
    } else if (callType !== undefined) {
      if (openCalls.get(id)?.type !== callType)
        throw createRequestError(`${getPath(item)}.call_id`, `is ${formatId(id)}, but no earlier ${callType} has that ID`);
      openCalls.delete(id);
    }
  }
  for (const [id, item] of openCalls) throw createMissingOutputError(item, id, getPath);
}

function createMissingOutputError(item: AnyItem, id: string, getPath: (item: AnyItem) => string): Error {
  return createRequestError(`${getPath(item)}.call_id`, `is ${formatId(id)}, but the output of that call is missing`);
}

function formatId(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
}

/** Tools of a request in the chat completions format. */
interface ChatTools {
  readonly offeredTools: OfferedTools;
  readonly fields: Partial<ChatRequest>;
  /** Names of omitted tools, such as `tools.web_search`. */
  readonly ignored: readonly string[];
}

/** Returns all tools of a request, including those in its input. */
function listTools({ tools = [] }: Pick<ResponsesRequest, 'tools'>, items: readonly AnyItem[]): readonly ResponsesTool[] {
  const additionalItems = items.filter((item): item is AdditionalTools => item.type === 'additional_tools');
  return additionalItems.length === 0 ? tools : [...tools, ...additionalItems.flatMap((item) => item.tools)];
}

/**
 * Converts the tools. Throws `invalid_request` if `tool_choice` cannot be satisfied, unless an upstream of the Responses API may
 * be used.
 */
function toChatTools(request: ResponsesRequest, tools: readonly ResponsesTool[], mayBeRelayed: boolean): ChatTools {
  const runsRemote = tools.some(isMcpTool);
  const offeredTools = new OfferedTools();
  for (const tool of tools) offeredTools.add(tool);
  const unsupported = tools.filter(isOtherTool).map(({ type }) => `tools.${type}`);
  const allowed =
    mayBeRelayed && mayChooseUpstreamTool(request.tool_choice, unsupported)
      ? {}
      : convertToolChoice(request.tool_choice, offeredTools);
  if (allowed.names !== undefined) offeredTools.restrictTo(allowed.names);
  const offers = [...offeredTools.all].filter(([name]) => offeredTools.isAllowed(name)).map(([, { offer }]) => offer);
  if (offers.length === 0 && !runsRemote) {
    if (!mayBeRelayed && allowed.choice !== undefined && allowed.choice !== 'auto' && allowed.choice !== 'none')
      throw createRequestError('tool_choice', 'requires a call, but this deployment cannot call any of the tools');
    return { offeredTools, fields: {}, ignored: unsupported };
  }
  const { parallel_tool_calls } = request;
  return {
    offeredTools,
    fields: {
      ...(offers.length > 0 && { tools: offers }),
      ...(allowed.choice !== undefined && { tool_choice: allowed.choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    },
    ignored: unsupported,
  };
}

/** Returns whether the choice may refer to a tool that only the upstream supports. */
function mayChooseUpstreamTool(choice: ResponsesRequest['tool_choice'], otherTypes: readonly string[]): boolean {
  if (typeof choice !== 'object' || choice.type === 'allowed_tools') return false;
  return otherTypes.length > 0 || !['function', 'custom'].includes(choice.type);
}

/** A tool choice in the chat completions format, and the tools that it allows. */
interface AllowedTools {
  readonly choice?: unknown;
  /** Flat names of the allowed tools. Undefined allows all. */
  readonly names?: ReadonlySet<string>;
}

function convertToolChoice(choice: ResponsesRequest['tool_choice'], offeredTools: OfferedTools): AllowedTools {
  if (choice === undefined || typeof choice === 'string') return { choice };
  if (choice.type === 'allowed_tools') return toAllowedTools(choice, offeredTools);
  if (choice.type === 'mcp') return { choice: toMcpToolChoice(choice) };
  const name = resolveName(choice, offeredTools, 'tool_choice');
  return { choice: { type: 'function', function: { name } } };
}

/** Returns `required` for a choice without a tool name, because chat completions cannot force a call to one server. */
function toMcpToolChoice({ server_label: label, name }: JsonObject): unknown {
  if (typeof name !== 'string') return 'required';
  return { type: 'function', function: { name: toMcpName(String(label), name) } };
}

function toAllowedTools({ mode = 'auto', tools }: JsonObject, offeredTools: OfferedTools): AllowedTools {
  if (mode !== 'auto' && mode !== 'required') throw createRequestError('tool_choice.mode', 'must be "auto" or "required"');
  if (!Array.isArray(tools) || tools.length === 0)
    throw createRequestError('tool_choice.tools', 'must contain at least one tool');
  const names = new Set<string>();
  const namespaces = new Set<unknown>();
  const knownNamespaces = new Set([...offeredTools.all].map(([, { namespace }]) => namespace));
  for (const [index, tool] of tools.entries()) {
    const path = `tool_choice.tools[${index}]`;
    if (!isJsonObject(tool)) throw createRequestError(path, 'must be an object');
    if (tool.type === 'function' || tool.type === 'custom') names.add(resolveName(tool, offeredTools, path));
    if (tool.type !== 'namespace') continue;
    if (typeof tool.name !== 'string' || !knownNamespaces.has(tool.name))
      throw createRequestError(`${path}.name`, 'must be the name of one of the tools');
    namespaces.add(tool.name);
  }
  for (const [flatName, { namespace }] of offeredTools.all) if (namespaces.has(namespace)) names.add(flatName);
  return { choice: mode, names };
}

function resolveName({ type, name, namespace }: JsonObject, offeredTools: OfferedTools, path: string): string {
  if (type !== 'function' && type !== 'custom')
    throw createRequestError(`${path}.type`, `is ${JSON.stringify(type)}, which this deployment does not support`);
  const flatName = offeredTools.findFlatName(String(name), typeof namespace === 'string' ? namespace : undefined);
  if (flatName === undefined) throw createRequestError(`${path}.name`, 'must be the name of one of the tools');
  return flatName;
}
