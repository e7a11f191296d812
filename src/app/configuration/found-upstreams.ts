import { isJsonObject, type JsonObject } from '#base/json.ts';
import { isDeploymentId } from '#contract/deployment-path.ts';
import type { Environment } from './substitute.ts';

const openaiChatModels = ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini'];
const openaiEmbeddingModels = ['text-embedding-3-small'];

/** Where a local Ollama lists its models: what a GET of it answers is the `ollamaTags` of `findModels`. */
export const ollamaTagsUrl = 'http://127.0.0.1:11434/api/tags';

const openaiEndpoint = 'https://api.openai.com/v1';
const ollamaEndpoint = 'http://127.0.0.1:11434/v1';

export interface Surroundings {
  readonly environment: Environment;
  /** The JSON that a local Ollama answers at `ollamaTagsUrl`; undefined where there is none. */
  readonly ollamaTags: unknown;
}

/** Models that can be had without being configured, as entries of `models` by id: of OpenAI where its key is set, of a local Ollama where one runs. */
export function findModels({ environment, ollamaTags }: Surroundings): JsonObject {
  const key = environment.OPENAI_API_KEY?.trim();
  const openai = key === undefined || key === '' ? [] : openaiModels(key, environment.OPENAI_BASE_URL?.trim() || openaiEndpoint);
  return Object.fromEntries([...openai, ...ollamaModels(ollamaTags)]);
}

type ModelById = readonly [id: string, entry: JsonObject];

function openaiModels(key: string, endpoint: string): readonly ModelById[] {
  const toEntry =
    (type: string) =>
    (model: string): ModelById => [model, { type, displayName: model, upstreams: [{ endpoint, key, model }] }];
  return [...openaiChatModels.map(toEntry('chat')), ...openaiEmbeddingModels.map(toEntry('embedding'))];
}

/** Ids get `ollama/` before them, so that no model of somebody's machine takes the id of another. */
function ollamaModels(tags: unknown): readonly ModelById[] {
  const models = isJsonObject(tags) && Array.isArray(tags.models) ? tags.models.filter(isJsonObject) : [];
  return models.flatMap(({ name, details }): ModelById[] => {
    const id = `ollama/${name}`;
    if (typeof name !== 'string' || !isDeploymentId(id)) return [];
    const family = isJsonObject(details) ? String(details.family) : '';
    const type = family.includes('bert') || name.includes('embed') ? 'embedding' : 'chat';
    return [[id, { type, displayName: name, upstreams: [{ endpoint: ollamaEndpoint, model: name }] }]];
  });
}
