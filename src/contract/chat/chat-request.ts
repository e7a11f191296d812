import { type Static, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { checkFields, createRequestError, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { mapField, mapItems, withoutEmptyTools, withoutNulls } from '../schemas/normalize-request.ts';
import { isResultName, Message, modelField } from './message.ts';
import { parseMessage } from './parse-message.ts';

/** A function that the assistant can call. */
const FunctionOffer = Type.Object({
  name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' }),
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(Type.Unsafe<{ [key: string]: unknown }>({ type: 'object', description: 'A JSON Schema.' })),
});
type FunctionOffer = Static<typeof FunctionOffer> & { [key: string]: unknown };

/** A configured addon by name, or a plugin by URL. Exactly one of the two is required. */
const Addon = Type.Object({ name: Type.Optional(Type.String()), url: Type.Optional(Type.String()) });

const options = {
  functions: Type.Optional(Type.Array(Type.Unsafe<FunctionOffer>(FunctionOffer))),
  function_call: Type.Optional(
    Type.Union([Type.Enum(['none', 'auto']), Type.Object({ name: Type.String() })], {
      description: 'Default: auto with functions, none without. An object names the function that must be called.',
    }),
  ),
  addons: Type.Optional(
    Type.Array(Addon, {
      maxItems: 32,
      description:
        'Tools that Parley runs: a configured addon by name, or the address of an OpenAPI document or plugin manifest.',
    }),
  ),
  stream: Type.Optional(Type.Boolean({ default: false })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, default: 1 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 1 })),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: 128, default: 1, description: 'Number of choices to generate.' })),
  stop: Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Array(Type.String(), { minItems: 1, maxItems: 4 })])),
  max_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Maximum number of completion tokens. If absent, the model decides. With the Anthropic protocol, the default is `limits.maxCompletionTokens` of the configuration, or 4096.',
    }),
  ),
  presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2, default: 0 })),
  frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2, default: 0 })),
  logit_bias: Type.Optional(
    Type.Union([Type.Null(), Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }))], {
      description: 'Change in the likelihood of tokens, by token ID.',
    }),
  ),
  user: Type.Optional(Type.String({ description: 'Identifier of the end user.' })),
};

/**
 * The body of a chat completion (docs/wire.md, Chat request), for the API description. `parseChatRequest` validates it. Unknown
 * fields are passed on unchanged.
 */
export const ChatRequest = Type.Object({ model: modelField, messages: Type.Array(Message, { minItems: 1 }), ...options });
export type ChatRequest = Static<typeof ChatRequest> & { [key: string]: unknown };

const headShape = compileShape(Type.Object({ model: modelField, messages: Type.Array(Type.Unknown(), { minItems: 1 }) }), {
  isEager: true,
});
const Options = Type.Object(options);
const optionsShape = compileShape(Options, { isEager: true });
const forwardedFields = [
  'tools',
  'tool_choice',
  'response_format',
  'seed',
  'stream_options',
  'max_completion_tokens',
  'parallel_tool_calls',
];
const knownFields: ReadonlySet<string> = new Set([...Object.keys(ChatRequest.properties), ...forwardedFields]);
/** Further fields of the OpenAI API that are passed on unchanged. */
const openAiFields = [
  ...['audio', 'logprobs', 'metadata', 'modalities', 'prediction', 'prompt_cache_key', 'prompt_cache_retention'],
  ...['reasoning_effort', 'safety_identifier', 'service_tier', 'store', 'top_logprobs', 'verbosity', 'web_search_options'],
];
/**
 * Fields whose null counts as absence, by part of the request. They are omitted because some SDKs send unset fields as null and
 * strict upstreams reject null.
 */
const nullable = {
  request: new Set([...knownFields, ...openAiFields].filter((field) => field !== 'messages')),
  tool: new Set(['description', 'parameters', 'strict']),
  addon: new Set(Object.keys(Addon.properties)),
};

/**
 * Validates the known fields of a chat request (docs/wire.md, Chat request) and keeps the others. Throws `invalid_request` for
 * the first error: first in the messages, then in the other fields in the order of `ChatRequest`.
 */
export function parseChatRequest(value: unknown): ChatRequest {
  let request = value;
  if (isJsonObject(value)) {
    const hasNull = checkFields(value, knownFields);
    if (hasNull || value.tools !== undefined || value.functions !== undefined || value.addons !== undefined)
      request = withoutAbsent(value);
  }
  const { messages: rawMessages } = requireShape(headShape, request);
  let messages = rawMessages as Message[];
  for (let index = 0; index < rawMessages.length; index += 1) {
    const message = parseMessage(rawMessages[index], `messages[${index}]`);
    if (message === rawMessages[index]) continue;
    if (messages === rawMessages) messages = [...messages];
    messages[index] = message;
  }
  checkFunctionResults(messages);
  return { ...requireOptions(request), messages };
}

/**
 * Returns the request with default values for fields that it does not have. Checks these values and the combination of functions
 * and tools, and omits values that are null. Does not check the other fields, because the rules of the client's dialect apply to
 * them. The Messages API, for example, allows more stop sequences. Throws `invalid_request`.
 */
export function withDefaults(request: ChatRequest, defaults: JsonObject): ChatRequest {
  let missing: JsonObject | undefined;
  for (const field in defaults) {
    if (request[field] !== undefined || (isOutputBound(field) && (hasOutputBound(request) || hasOutputBound(missing)))) continue;
    missing ??= {};
    missing[field] = defaults[field];
  }
  if (missing === undefined) return request;
  const checked = requireShape(optionsShape, withoutAbsent(missing));
  checked.addons?.forEach(checkAddon);
  const completed = { ...request, ...checked };
  if (completed.functions !== undefined || completed.function_call !== undefined) checkFunctions(completed);
  return completed;
}

/** A reply limit has two names. Upstreams reject a request that has both. */
function isOutputBound(field: string): boolean {
  return field === 'max_tokens' || field === 'max_completion_tokens';
}

function hasOutputBound(fields: JsonObject = {}): boolean {
  return (fields.max_tokens ?? fields.max_completion_tokens ?? undefined) !== undefined;
}

function requireOptions(request: unknown): Static<typeof Options> {
  const checked = requireShape(optionsShape, request);
  if (checked.functions !== undefined || checked.function_call !== undefined) checkFunctions(checked as ChatRequest);
  checked.addons?.forEach(checkAddon);
  return checked;
}

/** Returns the request without null fields and without empty lists of tools. */
function withoutAbsent(value: JsonObject): unknown {
  const request = withoutEmptyTools(
    withoutEmptyTools(withoutNulls(value, nullable.request), ['tools', 'tool_choice', 'parallel_tool_calls']),
    ['functions', 'function_call'],
  );
  const toTool = (tool: unknown) => mapField(tool, 'function', (offer) => withoutNulls(offer, nullable.tool));
  const withTools = mapField(request, 'tools', (tools) => mapItems(tools, toTool));
  const withFunctions = mapField(withTools, 'functions', (offers) =>
    mapItems(offers, (offer) => withoutNulls(offer, nullable.tool)),
  );
  return mapField(withFunctions, 'addons', (addons) => mapItems(addons, (addon) => withoutNulls(addon, nullable.addon)));
}

/**
 * Throws if the name of a function message differs from the name of the call that it answers. A function message without an
 * earlier call is valid. Function names can contain dashes, but message names cannot, so some clients replace them.
 */
function checkFunctionResults(messages: readonly Message[]): void {
  let openCallName: string | undefined;
  for (let index = 0; index < messages.length; index += 1) {
    const { role, name, function_call: call } = messages[index] as Message;
    if (call !== undefined) openCallName = call.name;
    if (role !== 'function' || openCallName === undefined) continue;
    if (!isResultName(name, openCallName))
      throw createRequestError(
        `messages[${index}].name`,
        `must be ${JSON.stringify(openCallName)}, the name of the function call that it answers`,
      );
    openCallName = undefined;
  }
}

function checkFunctions(request: ChatRequest): void {
  const { functions, function_call: choice } = request;
  if (request.tools !== undefined) {
    for (const field of ['functions', 'function_call']) {
      if (request[field] !== undefined)
        throw createRequestError(field, 'cannot be combined with tools. Use only tools and tool_choice');
    }
  }
  if (typeof choice !== 'object') return;
  const isOffered = functions?.some(({ name }) => name === choice.name) ?? false;
  if (!isOffered) throw createRequestError('function_call.name', 'must be the name of one of the functions of the request');
}

function checkAddon(addon: Static<typeof Addon>, index: number): void {
  const hasName = addon.name !== undefined;
  if (hasName === (addon.url !== undefined))
    throw createRequestError(`addons[${index}]`, hasName ? 'must not have both name and url' : 'must have name or url');
}
