import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isJsonObject, toObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainRequest } from '#contract/chat/content.ts';
import { createUnsupportedError } from '#domain/upstreams/upstream-error.ts';
import { isServerTool, type OfferedTool, omitForeignTools, type SelectedTools, selectTools } from '../prompt/select-tools.ts';
import { toPrompt } from './to-prompt.ts';
import type { Effort, Reasoning, ReasoningContext, Vendor } from './vendor.ts';

/** Converts a chat request to the options of the packages. Throws `UpstreamError` 400 for an unsupported feature. */
export function toCallOptions(input: ChatRequest, vendor: Vendor, model: string): LanguageModelV4CallOptions {
  const request = toPlainRequest(input);
  const toolOptions = toToolOptions(request);
  const { tools = [], toolChoice } = toolOptions;
  const prompt = toPrompt(request.messages, vendor, tools.length > 0 && toolChoice?.type !== 'none');
  const mustCall = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  const settings = toSettings(request);
  const reasoningContext = { model, prompt, mustCall, maxTokens: settings.maxOutputTokens };
  const reasoning = toReasoning(request, vendor, reasoningContext);
  const options = toVendorOptions(request, vendor);
  return {
    prompt,
    ...toolOptions,
    ...settings,
    ...(reasoning.maxOutputTokens !== undefined && { maxOutputTokens: reasoning.maxOutputTokens }),
    ...(reasoning.effort !== undefined && { reasoning: reasoning.effort }),
    providerOptions: {
      ...options,
      [vendor.namespace]: { ...options[vendor.namespace], ...reasoning.options } as Record<string, never>,
    },
  };
}

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** Returns the reasoning options. Returns no options if the request does not set reasoning, so that the model's default applies. */
function toReasoning(request: ChatRequest, vendor: Vendor, context: ReasoningContext): Reasoning {
  const { reasoning_effort: requestedEffort, thinking: requestedThinking } = request;
  const thinking = isJsonObject(requestedThinking) ? requestedThinking : undefined;
  const isOff = thinking === undefined ? requestedEffort === 'none' : thinking.type === 'disabled';
  if (isOff) return { effort: 'none', options: {} };
  const budget = typeof thinking?.budget_tokens === 'number' ? thinking.budget_tokens : undefined;
  const effort = efforts.has(requestedEffort) && budget === undefined ? (requestedEffort as Effort) : undefined;
  if (thinking === undefined && effort === undefined) return { options: {} };
  return vendor.toReasoning({ ...(effort && { effort }), budget, isAdaptive: thinking?.type === 'adaptive' }, context);
}

type Settings = Omit<LanguageModelV4CallOptions, 'prompt' | 'providerOptions' | 'tools' | 'toolChoice'>;

/** Returns sampling, bounds, and the response format. */
function toSettings(request: ChatRequest): Settings {
  const { temperature, top_p: topP, top_k: topK, seed, stop } = request;
  const { presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty } = request;
  const maxTokens = typeof request.max_completion_tokens === 'number' ? request.max_completion_tokens : request.max_tokens;
  const stopSequences = typeof stop === 'string' ? [stop] : (stop ?? []);
  return {
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(typeof topK === 'number' && { topK }),
    ...(typeof seed === 'number' && { seed }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...toResponseFormat(request.response_format),
  };
}

function toResponseFormat(format: unknown): Settings {
  if (!isJsonObject(format)) return {};
  if (format.type === 'json_object') return { responseFormat: { type: 'json' } };
  const jsonSchema = format.type === 'json_schema' ? format.json_schema : undefined;
  if (!isJsonObject(jsonSchema)) return {};
  const { schema, name, description } = jsonSchema;
  return {
    responseFormat: {
      type: 'json',
      ...(isJsonObject(schema) && { schema }),
      ...(typeof name === 'string' && { name }),
      ...(typeof description === 'string' && { description }),
    },
  };
}

/** Returns the options that only one vendor has, under the names of its package. */
function toVendorOptions(request: ChatRequest, vendor: Vendor): SharedV4ProviderOptions {
  // The Bedrock package reads this option from the namespace of Anthropic. The other packages ignore that.
  const isSerial = request.parallel_tool_calls === false && vendor.name === 'bedrock';
  return {
    [vendor.namespace]: vendor.toOptions(request) as SharedV4ProviderOptions[string],
    ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
  };
}

/**
 * Returns the tools and the tool choice, without tools that another vendor runs. Throws `UpstreamError` 400 for a custom
 * tool, and if the request requires a call of an omitted tool.
 */
function toToolOptions(request: ChatRequest): Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'> {
  const { tools, choice } = omitForeignTools(selectTools(request), isServerTool);
  if (tools.length === 0) return {};
  return { tools: tools.map(toTool), ...(choice !== undefined && { toolChoice: toToolChoice(choice) }) };
}

function toTool({ tool, position }: OfferedTool): LanguageModelV4FunctionTool {
  const { type, function: definition } = tool;
  if (!isJsonObject(definition) || typeof definition.name !== 'string')
    throw createUnsupportedError(`a tool of the type ${String(type)}`, `tools[${position}]`);
  const { name, description, parameters, strict } = definition;
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    inputSchema: { type: 'object', ...toObject(parameters) },
    ...(typeof strict === 'boolean' && { strict }),
  };
}

function toToolChoice(choice: NonNullable<SelectedTools['choice']>): LanguageModelV4ToolChoice {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };
}
