import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Message } from '#contract/chat/message.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AdditionalTools, AnyItem } from '#contract/responses/input-items.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isMcpTool, isOtherTool, type ResponsesTool } from '#contract/responses/tools.ts';
import { thoughtFields } from '#domain/upstreams/find-unsupported-thoughts.ts';
import { toMcpName } from './mcp-servers.ts';
import { OfferedTools } from './offered-tools.ts';
import { type Conversing, toMessages } from './to-messages.ts';

/** A request with everything that it goes on from. */
export interface Resolved extends Omit<Conversing, 'tools'> {
  readonly request: ResponsesRequest;
  /** What was said so far, and the input. */
  readonly items: readonly AnyItem[];
}

export interface Translated {
  readonly request: ChatRequest;
  readonly tools: OfferedTools;
  /** Names of fields that are left out. */
  readonly ignored: readonly string[];
}

/** Fields that the compat wire has under the same name. */
const same = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'user', 'safety_identifier', 'stream'] as const;
/** Those that the answer itself keeps to, or that say nothing to a model. */
const forwardedFields: ReadonlySet<string> = new Set([
  ...same,
  ...['model', 'input', 'instructions', 'include', 'stream_options', 'store', 'background', 'metadata', 'previous_response_id'],
  ...['conversation', 'max_output_tokens', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text', 'truncation'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'service_tier'],
]);

/** A request of the dialect in the inner language. Throws invalid_request for what cannot be told there. */
export function toChatRequest({ request, items, ...conversing }: Resolved): Translated {
  checkCalls(items, conversing.getPath);
  const { offered: tools, fields, ignored } = toChatTools(request, listTools(request, items), conversing.isNative);
  return {
    request: {
      messages: [...toInstructions(request), ...toMessages(items, { tools, ...conversing })],
      ...sameFields(request),
      ...toTier(request),
      ...toBound(request),
      ...toReasoning(request),
      ...toText(request),
      ...fields,
    },
    tools,
    ignored: [...ignored, ...leftOut(request)],
  };
}

function toInstructions({ instructions }: ResponsesRequest): Message[] {
  return instructions === undefined || instructions === '' ? [] : [{ role: 'system', content: instructions }];
}

function sameFields(request: ResponsesRequest): JsonObject {
  return Object.fromEntries(same.filter((field) => request[field] !== undefined).map((field) => [field, request[field]]));
}

/** What is asked for by name; `auto` and `default` are what an upstream does anyway, and some know no such field. */
function toTier({ service_tier }: ResponsesRequest): JsonObject {
  return service_tier === undefined || service_tier === 'auto' || service_tier === 'default' ? {} : { service_tier };
}

/** Models that take an effort take this bound under its newer name only. */
function toBound({ max_output_tokens: bound, reasoning }: ResponsesRequest): Partial<ChatRequest> {
  if (bound === undefined) return {};
  return reasoning?.effort === undefined ? { max_tokens: bound } : { max_completion_tokens: bound };
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

function leftOut(request: ResponsesRequest): string[] {
  const fields = Object.keys(request).filter((field) => !forwardedFields.has(field) && (request[field] ?? null) !== null);
  const ownIncludes = new Set<string>(Object.values(includables));
  const included = (request.include ?? []).filter((name) => !ownIncludes.has(name)).map((name) => `include.${name}`);
  return [...fields, ...included];
}

const ownNames: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  [thoughtFields.plain, 'input.reasoning'],
  [thoughtFields.signed, 'input.reasoning'],
]);

/** The name that a field of the compat wire has in the dialect. */
export function toOwnName(field: string): string {
  return ownNames.get(field) ?? field;
}

const outputs: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
};
const calls: ReadonlySet<string> = new Set(Object.values(outputs));

/** Every call has its output behind it, and every output its call ahead of it. Throws invalid_request with the place of the first that has not. */
function checkCalls(items: readonly AnyItem[], getPath: (item: AnyItem) => string): void {
  const waiting = new Map<string, AnyItem>();
  for (const item of items) {
    const { type, call_id: id } = item as { type: string; call_id?: string };
    if (id === undefined) continue;
    const callType = outputs[type];
    if (calls.has(type)) {
      if (waiting.has(id)) throw unanswered(waiting.get(id) ?? item, id, getPath);
      waiting.set(id, item);
    } else if (callType !== undefined) {
      if (waiting.get(id)?.type !== callType)
        throw createRequestError(`${getPath(item)}.call_id`, `is ${formatId(id)}, and no ${callType} ahead of it has that id`);
      waiting.delete(id);
    }
  }
  for (const [id, item] of waiting) throw unanswered(item, id, getPath);
}

function unanswered(item: AnyItem, id: string, getPath: (item: AnyItem) => string): Error {
  return createRequestError(`${getPath(item)}.call_id`, `is ${formatId(id)}, and no output of that call follows`);
}

function formatId(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
}

/** The tools of a request as the compat wire takes them. */
interface ChatTools {
  readonly offered: OfferedTools;
  readonly fields: Partial<ChatRequest>;
  /** Names of what is left out, such as `tools.web_search`. */
  readonly ignored: readonly string[];
}

/** All tools of a request: those that stand in its input count too. */
function listTools({ tools = [] }: Pick<ResponsesRequest, 'tools'>, items: readonly AnyItem[]): readonly ResponsesTool[] {
  const added = items.filter((item): item is AdditionalTools => item.type === 'additional_tools');
  return added.length === 0 ? tools : [...tools, ...added.flatMap((item) => item.tools)];
}

/** Throws invalid_request for a choice that cannot be kept to, unless an upstream of the dialect may be asked. */
function toChatTools(request: ResponsesRequest, tools: readonly ResponsesTool[], isNative: boolean): ChatTools {
  const runsRemote = tools.some(isMcpTool);
  const offered = new OfferedTools();
  for (const tool of tools) offered.add(tool);
  const unsupported = tools.filter(isOtherTool).map(({ type }) => `tools.${type}`);
  const allowed = isNative && isOthers(request.tool_choice, unsupported) ? {} : toAllowed(request.tool_choice, offered);
  if (allowed.names !== undefined) offered.restrictTo(allowed.names);
  const offers = [...offered.all].filter(([name]) => offered.isAllowed(name)).map(([, { offer }]) => offer);
  if (offers.length === 0 && !runsRemote) {
    if (!isNative && allowed.choice !== undefined && allowed.choice !== 'auto' && allowed.choice !== 'none')
      throw createRequestError('tool_choice', 'asks for a call, and none of the tools can be called by this deployment');
    return { offered, fields: {}, ignored: unsupported };
  }
  const { parallel_tool_calls } = request;
  return {
    offered,
    fields: {
      ...(offers.length > 0 && { tools: offers }),
      ...(allowed.choice !== undefined && { tool_choice: allowed.choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    },
    ignored: unsupported,
  };
}

/** Whether a choice is among tools that the upstream itself knows. */
function isOthers(choice: ResponsesRequest['tool_choice'], otherTypes: readonly string[]): boolean {
  if (typeof choice !== 'object' || choice.type === 'allowed_tools') return false;
  return otherTypes.length > 0 || !['function', 'custom'].includes(choice.type);
}

interface Allowed {
  readonly choice?: unknown;
  /** Names on the compat wire; absent: all. */
  readonly names?: ReadonlySet<string>;
}

function toAllowed(choice: ResponsesRequest['tool_choice'], offered: OfferedTools): Allowed {
  if (choice === undefined || typeof choice === 'string') return { choice };
  if (choice.type === 'allowed_tools') return toAllowedTools(choice, offered);
  if (choice.type === 'mcp') return { choice: toMcpChoice(choice) };
  const name = resolveName(choice, offered, 'tool_choice');
  return { choice: { type: 'function', function: { name } } };
}

/** A server as a whole cannot be forced: any tool is. */
function toMcpChoice({ server_label: label, name }: JsonObject): unknown {
  if (typeof name !== 'string') return 'required';
  return { type: 'function', function: { name: toMcpName(String(label), name) } };
}

function toAllowedTools({ mode = 'auto', tools }: JsonObject, offered: OfferedTools): Allowed {
  if (mode !== 'auto' && mode !== 'required') throw createRequestError('tool_choice.mode', 'must be "auto" or "required"');
  if (!Array.isArray(tools) || tools.length === 0) throw createRequestError('tool_choice.tools', 'must name at least one tool');
  const allowedNames = tools.flatMap((tool, index) => {
    const at = `tool_choice.tools[${index}]`;
    if (!isJsonObject(tool)) throw createRequestError(at, 'must be an object');
    if (tool.type === 'namespace') return namesIn(tool, offered, at);
    return tool.type === 'function' || tool.type === 'custom' ? [resolveName(tool, offered, at)] : [];
  });
  return { choice: mode, names: new Set(allowedNames) };
}

function namesIn({ name }: JsonObject, offered: OfferedTools, at: string): string[] {
  const names = [...offered.all].filter(([, { namespace }]) => namespace === name).map(([flatName]) => flatName);
  if (names.length === 0) throw createRequestError(`${at}.name`, 'must be the name of one of the tools');
  return names;
}

function resolveName({ type, name, namespace }: JsonObject, offered: OfferedTools, at: string): string {
  if (type !== 'function' && type !== 'custom')
    throw createRequestError(`${at}.type`, `is ${JSON.stringify(type)}, which this deployment cannot call`);
  const flatName = offered.offeredAs(String(name), typeof namespace === 'string' ? namespace : undefined);
  if (flatName === undefined) throw createRequestError(`${at}.name`, 'must be the name of one of the tools');
  return flatName;
}
