import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Dialect } from './dialect.ts';

type Settings = Omit<LanguageModelV4CallOptions, 'prompt' | 'providerOptions' | 'tools' | 'toolChoice'>;

/** Sampling, bounds and the form of the answer. */
export function toSettings(request: ChatRequest): Settings {
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
export function toOwnOptions(request: ChatRequest, { name, namespace }: Dialect): SharedV4ProviderOptions {
  const own = { gemini: toGemini, vertex: toVertex, bedrock: toBedrock, mistral: toMistral }[name](request);
  const isSerial = request.parallel_tool_calls === false && name === 'bedrock';
  return {
    [namespace]: own as SharedV4ProviderOptions[string],
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
