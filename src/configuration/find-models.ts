import { filterObjects, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { trimEnd } from '#base/text/truncate.ts';
import { isDeploymentId } from '#contract/deployment-path.ts';
import type { Environment } from './substitute.ts';

const openaiChatModels = ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini'];
const openaiEmbeddingModels = ['text-embedding-3-small'];
const anthropicModels = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-sonnet-4-6', 'claude-haiku-4-5'];
/** Maximum number of reply tokens that all these models support. Their API requires a limit. */
const anthropicMaxTokens = 32_000;

/** URL of the model list of a local Ollama. The response to a GET request is `ollamaTags` of `findModels`. */
export const ollamaTagsUrl = 'http://127.0.0.1:11434/api/tags';

const openaiEndpoint = 'https://api.openai.com/v1';
const anthropicEndpoint = 'https://api.anthropic.com/v1';
const ollamaEndpoint = 'http://127.0.0.1:11434/v1';

export interface ModelSources {
  readonly environment: Environment;
  /** Response JSON of a local Ollama at `ollamaTagsUrl`. Undefined if no Ollama is running. */
  readonly ollamaTags: unknown;
}

/**
 * Returns the models that are available without a configuration, as entries of `models`. Includes models of OpenAI and Anthropic
 * if their API keys are set, and models of a local Ollama.
 */
export function findModels({ environment, ollamaTags }: ModelSources): JsonObject {
  const readVariable = (name: string): string => environment[name]?.trim() ?? '';
  const openai = readVariable('OPENAI_API_KEY');
  const anthropic = readVariable('ANTHROPIC_API_KEY');
  return Object.fromEntries([
    ...(openai === '' ? [] : createOpenaiModels(openai, readVariable('OPENAI_BASE_URL') || openaiEndpoint)),
    ...(anthropic === '' ? [] : createAnthropicModels(anthropic, readVariable('ANTHROPIC_BASE_URL'))),
    ...createOllamaModels(ollamaTags),
  ]);
}

type ModelById = readonly [id: string, entry: JsonObject];

function createOpenaiModels(key: string, endpoint: string): readonly ModelById[] {
  const toEntry =
    (type: string) =>
    (model: string): ModelById => [model, { type, displayName: model, upstreams: [{ endpoint, key, model }] }];
  return [...openaiChatModels.map(toEntry('chat')), ...openaiEmbeddingModels.map(toEntry('embedding'))];
}

/** Base addresses for Anthropic's own clients do not include the version, so `/v1` is added if it is missing. */
function createAnthropicModels(key: string, base: string): readonly ModelById[] {
  const address = trimEnd(base, '/');
  const addressWithVersion = address.endsWith('/v1') ? address : `${address}/v1`;
  const endpoint = address === '' ? anthropicEndpoint : addressWithVersion;
  const limits = { maxCompletionTokens: anthropicMaxTokens };
  return anthropicModels.map((model): ModelById => {
    return [model, { displayName: model, limits, upstreams: [{ protocol: 'anthropic', endpoint, key, model }] }];
  });
}

/** The prefix `ollama/` prevents local models from taking the IDs of other models. */
function createOllamaModels(tags: unknown): readonly ModelById[] {
  const models = filterObjects(toObject(tags).models);
  return models.flatMap(({ name, details }): ModelById[] => {
    const id = `ollama/${name}`;
    if (typeof name !== 'string' || !isDeploymentId(id)) return [];
    const family = isJsonObject(details) ? String(details.family) : '';
    const type = family.includes('bert') || name.includes('embed') ? 'embedding' : 'chat';
    return [[id, { type, displayName: name, upstreams: [{ endpoint: ollamaEndpoint, model: name }] }]];
  });
}
