import type { JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Message } from '#contract/message.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import { includables, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import { thoughtFields } from '#domain/upstreams/lost-thoughts.ts';
import { checkCalls } from './check-calls.ts';
import type { OfferedTools } from './offered-tools.ts';
import { toChatTools, toolsOf } from './to-chat-tools.ts';
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
const kept: ReadonlySet<string> = new Set([
  ...same,
  ...['model', 'input', 'instructions', 'include', 'stream_options', 'store', 'background', 'metadata', 'previous_response_id'],
  ...['conversation', 'max_output_tokens', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text', 'truncation'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'service_tier'],
]);

/** A request of the dialect in the inner language. Throws invalid_request for what cannot be told there. */
export function toChatRequest({ request, items, ...conversing }: Resolved): Translated {
  checkCalls(items, conversing.pathOf);
  const { offered: tools, fields, ignored } = toChatTools(request, toolsOf(request, items), conversing.isNative);
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
  const asked = verbosity === undefined ? {} : { verbosity };
  if (format === undefined || format.type === 'text') return asked;
  if (format.type === 'json_object') return { ...asked, response_format: { type: 'json_object' } };
  const { type, ...schema } = format;
  return { ...asked, response_format: { type, json_schema: schema } };
}

function leftOut(request: ResponsesRequest): string[] {
  const fields = Object.keys(request).filter((field) => !kept.has(field) && (request[field] ?? null) !== null);
  const own = new Set<string>(Object.values(includables));
  const included = (request.include ?? []).filter((name) => !own.has(name)).map((name) => `include.${name}`);
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
