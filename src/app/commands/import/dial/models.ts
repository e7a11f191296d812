import type { JsonObject } from '#base/json/json.ts';
import { trimEnd } from '#base/text/truncate.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportContext } from '../result.ts';
import { deploymentDropReasons, responsesReason, toDeploymentFields } from './deployment-fields.ts';

const dropReasons = {
  ...deploymentDropReasons,
  tokenizerModel: 'Parley does not list tokenizers',
  embeddingDimensions: 'Parley does not list dimensions',
};

const limitKeys = ['maxTotalTokens', 'maxPromptTokens', 'maxCompletionTokens'] as const;
const priceKeys = ['prompt', 'completion', 'cacheRead', 'cacheWrite'] as const;
const operationPattern = /\/(chat\/completions|embeddings)\/?(?=\?|$)/;
const deploymentPattern = /\/openai\/deployments\/([^/?]+)(?=\?|$)/;

const upstreamDropReasons = {
  id: null,
  responsesEndpoint: responsesReason,
  interfaces: 'an upstream has one `endpoint` in Parley',
  baseUrl: 'an upstream has one `endpoint` in Parley',
  authType: 'Parley sends the key to the adapter unchanged',
};

/** Imports the entries of `models`. */
export function importModels(root: ForeignObject, context: ImportContext): void {
  for (const [id, model] of root.namedObjects('models')) {
    const type = toType(model, context);
    if (type === undefined) continue;
    const service = toService(model, { id, type, context });
    if (service === undefined) continue;
    context.result.put('models', id, model.path, {
      ...(type === 'embedding' && { type }),
      ...service,
      ...toDeploymentFields(model, 'models', context),
      ...toNumbers(model, context),
    });
    model.reportUnread(dropReasons, 'a model of DIAL');
  }
}

function toType(model: ForeignObject, { notes }: ImportContext): 'chat' | 'embedding' | undefined {
  const type = (model.text('type') ?? 'chat').toLowerCase();
  if (type === 'chat' || type === 'embedding') return type;
  notes.addLoss(model.path, 'is left out: Parley serves only models of the types chat and embedding');
  return undefined;
}

function toNumbers(model: ForeignObject, context: ImportContext): JsonObject {
  const limits = model.object('limits');
  const pricing = model.object('pricing');
  const bounds = limits === undefined ? {} : limits.numbers(limitKeys);
  limits?.reportUnread({}, 'the limits of a model');
  const prices = pricing === undefined ? {} : toPrices(pricing, context);
  return {
    ...(Object.keys(bounds).length > 0 && { limits: context.result.withOrigin(model.at('limits'), bounds) }),
    ...(Object.keys(prices).length > 0 && { pricing: context.result.withOrigin(model.at('pricing'), prices) }),
  };
}

function toPrices(pricing: ForeignObject, { notes }: ImportContext): JsonObject {
  const unit = pricing.text('unit') ?? 'token';
  if (unit === 'none') return {};
  if (unit !== 'token') {
    notes.addLoss(pricing.path, 'is not imported: Parley has prices for tokens, not for characters', 'set USD per token');
    return {};
  }
  const prices = pricing.numbers(priceKeys);
  pricing.reportUnread({}, 'the pricing of a model');
  return prices;
}

interface ModelDetails {
  readonly id: string;
  readonly type: 'chat' | 'embedding';
  readonly context: ImportContext;
}

/** Fields that determine how a model is served: its upstreams, and its adapter if it has one. */
type Service = JsonObject & { readonly upstreams: readonly JsonObject[] };

/**
 * Returns how to call a model. A server with OpenAI's API is called directly, and an adapter in the way DIAL calls it. Returns
 * undefined, with a note, if the model cannot be called.
 */
function toService(model: ForeignObject, details: ModelDetails): Service | undefined {
  const { id, context } = details;
  const address = toAddress(model, details);
  if (address === undefined) return undefined;
  const base = address.replace(operationPattern, '');
  const [, deploymentName] = deploymentPattern.exec(base) ?? [];
  const override = model.text('overrideName');
  const entries = model.items('upstreams');
  const name = context.variables.convertReferences(override ?? deploymentName ?? id);
  if (entries.length === 0 && deploymentName === undefined && base !== address)
    return { upstreams: [context.result.withOrigin(model.path, { endpoint: base, model: name })] };
  const upstreams = entries.map((entry) => toUpstream(entry, details));
  if (upstreams.length === 0) upstreams.push(context.result.withOrigin(model.path, {}));
  if (override !== undefined)
    context.notes.addLoss(
      model.at('overrideName'),
      'is not imported: Parley sends the `model` of the request to the adapter',
      'put it into the URL if the adapter needs it',
    );
  return { protocol: 'dial', endpoint: address, upstreams };
}

function toUpstream(entry: ForeignObject, { id, context }: ModelDetails): JsonObject {
  const { variables, result } = context;
  const endpoint = entry.text('endpoint') || undefined;
  const key = entry.text('key') || undefined;
  const extra = entry.value('extraData');
  const weight = entry.number('weight');
  const tier = entry.number('tier');
  entry.reportUnread(upstreamDropReasons, 'an upstream of DIAL');
  const toExtra = (path = entry.at('extraData')): unknown =>
    typeof extra === 'string' ? variables.toReference(extra, path, `${id}_extra_data`) : variables.convertValue(extra, path, id);
  return result.withOrigin(entry.path, {
    ...(endpoint !== undefined && { endpoint: variables.convertUrl(endpoint, entry.at('endpoint'), `${id}_upstream`) }),
    ...(key !== undefined && { key: variables.toReference(key, entry.at('key'), `${id}_key`) }),
    ...(extra !== undefined && { extraData: toExtra() }),
    ...(weight !== undefined && weight !== 1 && { weight: Math.max(0, weight) }),
    ...(tier !== undefined && tier !== 0 && { tier }),
  });
}

/** Returns the URL of the model, from `endpoint` or from `interfaces`. Returns undefined, with a note, if there is none. */
function toAddress(model: ForeignObject, { id, type, context }: ModelDetails): string | undefined {
  const { notes, variables } = context;
  const [name, path] = type === 'chat' ? ['openaiChatCompletions', 'chat/completions'] : ['openaiEmbeddings', 'embeddings'];
  const interfaces = model.object('interfaces');
  const base = interfaces?.object(name)?.text('baseUrl');
  interfaces?.reportUnread(
    {
      anthropicMessages: 'only the interface for the type of the model is imported',
      openaiResponses: responsesReason,
    },
    'the interfaces of a model',
  );
  const endpoint = model.text('endpoint');
  const address = base === undefined ? endpoint : `${trimEnd(base, '/')}/openai/deployments/${encodeURIComponent(id)}/${path}`;
  if (address !== undefined && address !== '')
    return variables.convertUrl(address, model.at(base === undefined ? 'endpoint' : 'interfaces'), id);
  notes.addLoss(model.path, 'is left out: it has no endpoint that Parley can call', model.suggestKey('endpoint'));
  return undefined;
}
