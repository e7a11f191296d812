import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainMessages } from '#contract/chat/content.ts';
import { toBudget, usesAdaptiveThinking } from '../prompt/claude-thinking.ts';
import { createRejection } from '../prompt/create-rejection.ts';
import { type OfferedTool, type SelectedTools, selectTools } from '../prompt/select-tools.ts';
import type { Dialect } from './dialect.ts';
import { toPrompt } from './to-prompt.ts';

/**
 * A chat request as the packages take it; docs/compatibility.md lists what each upstream drops. Throws UpstreamFault 400 for
 * what the vendor does not have.
 */
export function toCallOptions(input: ChatRequest, dialect: Dialect, model: string): LanguageModelV4CallOptions {
  const request = toPlainMessages(input);
  const tooling = toTooling(request);
  const { tools = [], toolChoice } = tooling;
  const prompt = toPrompt(request.messages, dialect, tools.length > 0 && toolChoice?.type !== 'none');
  const mustCall = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  const settings = toSettings(request);
  const thinkingContext = { model, prompt, mustCall, maxTokens: settings.maxOutputTokens };
  const { effort, vendorOptions, maxOutputTokens } = toReasoning(request, dialect, thinkingContext);
  const options = toVendorOptions(request, dialect);
  return {
    prompt,
    ...tooling,
    ...settings,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(effort !== undefined && { reasoning: effort }),
    providerOptions: {
      ...options,
      [dialect.namespace]: { ...options[dialect.namespace], ...vendorOptions } as Record<string, never>,
    },
  };
}

type Effort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
/** Google's models that cannot think refuse to be asked for their thoughts. */
const thoughtless = /gemini-(1|2\.0)|gemma|learnlm/i;

/** How much the model shall think: an effort, and what the vendor's own options say of it. */
interface Reasoning {
  readonly effort?: Effort;
  readonly vendorOptions: JsonObject;
  /** Tokens of the answer alone, if the vendor's package adds those of thought. */
  readonly maxOutputTokens?: number;
}

interface ThinkingContext {
  readonly model: string;
  readonly prompt: LanguageModelV4Prompt;
  /** Whether a call of a tool is demanded. */
  readonly mustCall: boolean;
  /** Tokens of thoughts and answer together. */
  readonly maxTokens: number | undefined;
}

/** `reasoning_effort`, or `thinking` with a budget, which wins. Nothing if neither was asked for: the model's own default holds. */
function toReasoning(request: ChatRequest, dialect: Dialect, context: ThinkingContext): Reasoning {
  const { reasoning_effort: requestedEffort, thinking } = request;
  const requestedThinking = isJsonObject(thinking) ? thinking : undefined;
  const isOff = requestedThinking === undefined ? requestedEffort === 'none' : requestedThinking.type === 'disabled';
  if (isOff) return { effort: 'none', vendorOptions: {} };
  const budget = typeof requestedThinking?.budget_tokens === 'number' ? requestedThinking.budget_tokens : undefined;
  const effort = efforts.has(requestedEffort) && budget === undefined ? { effort: requestedEffort as Effort } : {};
  if (requestedThinking === undefined && effort.effort === undefined) return { vendorOptions: {} };
  switch (dialect.name) {
    case 'gemini':
    case 'vertex':
      return { ...effort, vendorOptions: toThinkingConfig(budget, context) };
    case 'bedrock':
      return canThink(context)
        ? limitTokens({ ...effort, vendorOptions: toReasoningConfig(budget, requestedThinking) }, budget, context)
        : { vendorOptions: {} };
    case 'mistral':
      return { ...effort, vendorOptions: {} };
  }
}

function toThinkingConfig(budget: number | undefined, { model }: ThinkingContext): JsonObject {
  if (thoughtless.test(model)) return {};
  return { thinkingConfig: { includeThoughts: true, ...(budget !== undefined && { thinkingBudget: budget }) } };
}

function toReasoningConfig(budget: number | undefined, requestedThinking: JsonObject | undefined): JsonObject {
  if (budget !== undefined) return { reasoningConfig: { type: 'enabled', budgetTokens: budget } };
  return requestedThinking?.type === 'adaptive' ? { reasoningConfig: { type: 'adaptive' } } : {};
}

/** The package adds a budget to the bound, and takes a share of what the model can for an effort: both together may be more than it takes. */
function limitTokens(
  reasoning: Reasoning,
  requestedBudget: number | undefined,
  { model, maxTokens }: ThinkingContext,
): Reasoning {
  if (maxTokens === undefined || !/claude/i.test(model)) return reasoning;
  if (requestedBudget !== undefined) return { ...reasoning, maxOutputTokens: Math.max(1, maxTokens - requestedBudget) };
  if (reasoning.effort === undefined || usesAdaptiveThinking(model)) return reasoning;
  const budget = toBudget(reasoning.effort, maxTokens);
  if (budget === undefined) return { vendorOptions: {} };
  return { vendorOptions: toReasoningConfig(budget, undefined), maxOutputTokens: maxTokens - budget };
}

/** A Claude refuses to think if a call is demanded, and in a turn whose calls come without the thoughts that led to them. */
function canThink({ model, prompt, mustCall }: ThinkingContext): boolean {
  if (!/claude/i.test(model)) return true;
  if (mustCall) return false;
  for (const { role, content } of prompt.toReversed()) {
    if (role === 'user') return true;
    if (role !== 'assistant') continue;
    const types: string[] = content.map(({ type }) => type);
    if (types.includes('tool-call') && !types.includes('reasoning')) return false;
  }
  return true;
}

type Settings = Omit<LanguageModelV4CallOptions, 'prompt' | 'providerOptions' | 'tools' | 'toolChoice'>;

/** Sampling, bounds and the form of the answer. */
function toSettings(request: ChatRequest): Settings {
  const { temperature, top_p: topP, top_k: topK, seed, stop } = request;
  const { presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty } = request;
  const bound = typeof request.max_completion_tokens === 'number' ? request.max_completion_tokens : request.max_tokens;
  const stopSequences = typeof stop === 'string' ? [stop] : (stop ?? []);
  return {
    ...(bound !== undefined && { maxOutputTokens: bound }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(typeof topK === 'number' && { topK }),
    ...(typeof seed === 'number' && { seed }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...toFormat(request.response_format),
  };
}

function toFormat(format: unknown): Settings {
  if (!isJsonObject(format)) return {};
  if (format.type === 'json_object') return { responseFormat: { type: 'json' } };
  const described = format.type === 'json_schema' ? format.json_schema : undefined;
  if (!isJsonObject(described)) return {};
  const { schema, name, description } = described;
  return {
    responseFormat: {
      type: 'json',
      ...(isJsonObject(schema) && { schema }),
      ...(typeof name === 'string' && { name }),
      ...(typeof description === 'string' && { description }),
    },
  };
}

/** What only one vendor knows, under the names its package has for it. */
function toVendorOptions(request: ChatRequest, { name, namespace }: Dialect): SharedV4ProviderOptions {
  const vendorOptions = { gemini: toGemini, vertex: toVertex, bedrock: toBedrock, mistral: toMistral }[name](request);
  const isSerial = request.parallel_tool_calls === false && name === 'bedrock';
  return {
    [namespace]: vendorOptions as SharedV4ProviderOptions[string],
    ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
  };
}

function toVertex({ safety_settings: safetySettings, cached_content: cachedContent }: ChatRequest): JsonObject {
  return {
    ...(Array.isArray(safetySettings) && { safetySettings }),
    ...(typeof cachedContent === 'string' && { cachedContent }),
  };
}

function toGemini(request: ChatRequest): JsonObject {
  const tier = request.service_tier === 'default' ? 'standard' : request.service_tier;
  const isKnown = tier === 'standard' || tier === 'flex' || tier === 'priority';
  return { ...toVertex(request), ...(isKnown && { serviceTier: tier }) };
}

function toBedrock({ service_tier: tier, betas }: ChatRequest): JsonObject {
  const isKnown = tier === 'default' || tier === 'flex' || tier === 'priority' || tier === 'reserved';
  const anthropicBeta = Array.isArray(betas) ? betas.filter((beta) => typeof beta === 'string') : [];
  return { ...(isKnown && { serviceTier: tier }), ...(anthropicBeta.length > 0 && { anthropicBeta }) };
}

function toMistral(request: ChatRequest): JsonObject {
  const { parallel_tool_calls: parallelToolCalls, prompt_cache_key: promptCacheKey, safe_prompt: safePrompt } = request;
  const { response_format: format } = request;
  const isStrict = isJsonObject(format) && isJsonObject(format.json_schema) && format.json_schema.strict === true;
  return {
    ...(typeof parallelToolCalls === 'boolean' && { parallelToolCalls }),
    ...(typeof promptCacheKey === 'string' && { promptCacheKey }),
    ...(typeof safePrompt === 'boolean' && { safePrompt }),
    ...(isStrict && { strictJsonSchema: true }),
  };
}

type Tooling = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

/**
 * The tools offered and how they may be used, without those that another vendor runs. Throws UpstreamFault 400 for a custom
 * tool, and if the request demands a call of a tool that is left out.
 */
function toTooling(request: ChatRequest): Tooling {
  const { tools: allTools, choice } = selectTools(request);
  const tools = allTools.filter(({ tool }) => !isVendorTool(tool));
  if (tools.length < allTools.length) checkChoice(choice, allTools, tools);
  if (tools.length === 0) return {};
  return { tools: tools.map(toTool), ...(choice !== undefined && { toolChoice: toToolChoice(choice) }) };
}

/** Returns the names of tools that another vendor runs, such as `tools.web_search_20250305`. */
export function listVendorTools({ tools }: ChatRequest): string[] {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return list.filter(isJsonObject).flatMap((tool) => (isVendorTool(tool) ? [`tools.${tool.type}`] : []));
}

function isVendorTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && type !== 'function' && type !== 'custom';
}

function checkChoice(choice: SelectedTools['choice'], allTools: readonly OfferedTool[], tools: readonly OfferedTool[]): void {
  if (choice === 'required' && tools.length === 0)
    throw createRejection('a demand for a call of tools that another vendor runs', 'tool_choice');
  if (typeof choice !== 'object') return;
  const forced = allTools.find(({ tool }) => isVendorTool(tool) && tool.name === choice.name);
  if (forced !== undefined) throw createRejection(`a tool of the type ${String(forced.tool.type)}`, 'tool_choice');
}

function toTool({ tool, position }: OfferedTool): LanguageModelV4FunctionTool {
  const { type, function: offer } = tool;
  if (!isJsonObject(offer) || typeof offer.name !== 'string')
    throw createRejection(`a tool of the type ${String(type)}`, `tools[${position}]`);
  const { name, description, parameters, strict } = offer;
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    inputSchema: { type: 'object', ...(isJsonObject(parameters) ? parameters : {}) },
    ...(typeof strict === 'boolean' && { strict }),
  };
}

function toToolChoice(choice: NonNullable<SelectedTools['choice']>): LanguageModelV4ToolChoice {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };
}
