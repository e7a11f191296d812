import type { JsonObject } from '#base/json.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { Variables } from '../variables.ts';

/** Parameters of a request, which LiteLLM puts into requests that lack them. */
const requestFields = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'response_format',
  'reasoning_effort',
  'thinking',
  'parallel_tool_calls',
  'tool_choice',
  'tools',
  'user',
  'dimensions',
  'service_tier',
] as const;

const prices = [
  ['prompt', 'inputCostPerToken'],
  ['completion', 'outputCostPerToken'],
  ['cacheRead', 'cacheReadInputTokenCost'],
  ['cacheWrite', 'cacheCreationInputTokenCost'],
  ['cacheWrite1h', 'cacheCreationInputTokenCostAbove1hr'],
] as const;

/** What it says that the model can do, as callers are told. */
export function toAbilities(info: ForeignObject | undefined): JsonObject {
  if (info === undefined) return {};
  const features = {
    ...(info.value('supportsFunctionCalling') !== undefined && { toolsSupported: info.flag('supportsFunctionCalling') }),
    ...(info.value('supportsReasoning') !== undefined && { reasoningSupported: info.flag('supportsReasoning') }),
    ...(info.value('supportsSystemMessages') !== undefined && { systemPromptSupported: info.flag('supportsSystemMessages') }),
  };
  return {
    ...(Object.keys(features).length > 0 && { features }),
    ...(info.flag('supportsVision') && { inputAttachmentTypes: ['image/*'] }),
  };
}

export function toDefaults(params: ForeignObject, variables: Variables): JsonObject {
  return Object.fromEntries(
    requestFields.flatMap((name) => {
      const value = params.value(name);
      return value === undefined ? [] : [[name, variables.value(value, params.at(name), 'default')]];
    }),
  );
}

/** Prices stand in `model_info` or among the parameters. */
export function toPricing(params: ForeignObject, info: ForeignObject | undefined): JsonObject {
  return Object.fromEntries(
    prices.flatMap(([name, key]) => {
      const inInfo = info?.number(key);
      const price = params.number(key) ?? inInfo;
      return price === undefined ? [] : [[name, price]];
    }),
  );
}
