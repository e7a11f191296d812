import type { JsonObject } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/issue.ts';
import { type ForeignObject, withoutUndefined } from '../foreign-object.ts';
import type { SecretVariables } from '../result.ts';
import { unsupportedInfo, unsupportedParams } from './unsupported-keys.ts';
import { type LitellmContext, toUpstream } from './upstream.ts';

/** Entries of `model_list` with the same name. */
export interface ModelGroup {
  /** Path of the first entry with the name. */
  readonly path: Path;
  readonly type: 'chat' | 'embedding';
  readonly upstreams: JsonObject[];
  /** Other fields of the model. */
  readonly fields: JsonObject;
}

const chatModes: ReadonlySet<string> = new Set(['chat', 'completion', 'responses']);
const ownModelSuggestion = 'write the model yourself, and set `api` of its upstream';
const unsupportedModels =
  /(^|[/-])(dall-e|whisper|tts|gpt-image|sora|rerank|omni-moderation|text-moderation)|stable-diffusion|transcribe/i;

/** Returns the entries of `model_list` by name. Entries with the same name become upstreams of one model. */
export function readModelList(root: ForeignObject, context: LitellmContext): ReadonlyMap<string, ModelGroup> {
  const groups = new Map<string, ModelGroup>();
  for (const entry of root.items('modelList')) {
    const name = entry.text('modelName');
    const params = entry.object('litellmParams');
    const info = entry.object('modelInfo');
    if (name === undefined || params === undefined) {
      context.notes.addLoss(
        entry.path,
        'is left out: it has no model_name or no litellm_params',
        entry.suggestKey('modelName') ?? entry.suggestKey('litellmParams'),
      );
      continue;
    }
    const type = toType(entry, params, info);
    if (name.includes('*'))
      context.notes.addLoss(
        entry.at('modelName'),
        'is left out: in Parley, a name identifies one model',
        'write one entry per model',
      );
    else if (type === 'chat' || type === 'embedding') addUpstream(groups, name, { entry, params, info, type, context });
    else
      context.notes.addLoss(
        entry.path,
        `is left out: the import supports only chat and embeddings, not ${type}`,
        ownModelSuggestion,
      );
  }
  for (const [name, { upstreams }] of groups) if (upstreams.length === 0) groups.delete(name);
  return groups;
}

function toType(entry: ForeignObject, params: ForeignObject, info: ForeignObject | undefined): string {
  const mode = info?.text('mode') ?? params.text('mode');
  if (mode !== undefined) return chatModes.has(mode) ? 'chat' : mode;
  const model = `${params.text('model') ?? ''} ${info?.text('baseModel') ?? ''}`;
  if (unsupportedModels.test(model)) return 'images, audio, moderation, or reranking';
  return /embed/i.test(`${model} ${entry.text('modelName') ?? ''}`) ? 'embedding' : 'chat';
}

interface ListEntry {
  readonly entry: ForeignObject;
  readonly params: ForeignObject;
  readonly info: ForeignObject | undefined;
  readonly type: ModelGroup['type'];
  readonly context: LitellmContext;
}

function addUpstream(groups: Map<string, ModelGroup>, name: string, { entry, params, info, type, context }: ListEntry): void {
  const upstream = toUpstream(name, params, context);
  if (upstream === undefined) return;
  const group: ModelGroup = groups.get(name) ?? {
    path: entry.path,
    type,
    upstreams: [],
    fields: context.result.withOrigin(entry.path, {}),
  };
  if (group.type !== type) {
    context.notes.addLoss(entry.path, 'is left out: other entries with this name have a different mode');
    return;
  }
  const isFirst = group.upstreams.length === 0;
  group.upstreams.push(upstream);
  groups.set(name, group);
  addFields(group, { params, info, context, isFirst });
  for (const holder of [entry, params]) reportRateLimits(holder, context);
  if (info?.value('baseModel') !== undefined)
    context.notes.addLoss(
      info.at('baseModel'),
      'is not imported: Parley has no built-in data about models',
      'set its prices and limits in `pricing` and `limits`',
    );
  params.reportUnread(unsupportedParams, 'litellm_params');
  info?.reportUnread(unsupportedInfo, 'model_info');
  const parallelReason = 'set `maxParallel` of the upstream';
  const reasons = { guardrails: 'Parley has no guardrails', modelGroup: null, maxParallelRequests: parallelReason };
  entry.reportUnread(reasons, 'an entry of model_list');
}

/** Adds defaults, prices, and features, which belong to the model in Parley. The first entry determines them. */
function addFields(
  { fields }: ModelGroup,
  { params, info, context, isFirst }: Omit<ListEntry, 'entry' | 'type'> & { readonly isFirst: boolean },
): void {
  const defaults = toDefaults(params, context.variables);
  const pricing = toPricing(params, info);
  const [maxPromptTokens, maxCompletionTokens] = [info?.number('maxInputTokens'), info?.number('maxOutputTokens')];
  const limits = withoutUndefined({ maxPromptTokens, maxCompletionTokens });
  const description = info?.text('description');
  const modelFields = {
    ...(description !== undefined && { description: context.variables.escapeText(description) }),
    ...(Object.keys(defaults).length > 0 && { defaults: context.result.withOrigin(params.path, defaults) }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(pricing).length > 0 && { pricing }),
    ...toFeatures(info),
  };
  if (isFirst) Object.assign(fields, modelFields);
  else if (Object.entries(modelFields).some(([key, value]) => JSON.stringify(fields[key]) !== JSON.stringify(value)))
    context.notes.addLoss(
      params.path,
      'has different defaults, limits, prices, or features: those of the first entry with this name apply',
    );
}

/** Reports rate limits of a deployment. LiteLLM enforces them, but upstreams of Parley have none. */
function reportRateLimits(holder: ForeignObject, { notes }: LitellmContext): void {
  for (const key of ['rpm', 'tpm']) {
    if (holder.value(key) !== undefined)
      notes.addLoss(
        holder.at(key),
        'is not imported: upstreams have no rate limits in Parley',
        'limit clients with `roles` (Parley pauses an upstream that returns 429)',
      );
  }
}

/** Request parameters that LiteLLM adds to requests without them. */
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

/** Returns the features and attachment types of the model. */
function toFeatures(info: ForeignObject | undefined): JsonObject {
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

function toDefaults(params: ForeignObject, variables: SecretVariables): JsonObject {
  const values = requestFields.map((name) => [name, variables.convertValue(params.value(name), params.at(name), 'default')]);
  return withoutUndefined(Object.fromEntries(values));
}

/** Returns the prices, which are in `model_info` or in `litellm_params`. */
function toPricing(params: ForeignObject, info: ForeignObject | undefined): JsonObject {
  const values = prices.map(([name, key]) => {
    const inInfo = info?.number(key);
    return [name, params.number(key) ?? inInfo];
  });
  return withoutUndefined(Object.fromEntries(values));
}
