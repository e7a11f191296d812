import { Type } from 'typebox';
import { ownFields } from '#base/http/header-fields.ts';
import { isInfinite, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { parseChatRequest } from '../../chat/chat-request.ts';
import { parseEmbeddingsRequest } from '../../chat/embeddings-request.ts';
import { isDeploymentId } from '../../deployment-path.ts';
import { ParleyError } from '../../errors/errors.ts';
import { requireShape } from '../../errors/request-error.ts';
import { isQuickAppSchemaId, quickAppSuffix } from '../../quick-app/form.ts';
import { findQuickAppIssues } from '../../quick-app/quick-app-issues.ts';
import { compileShape } from '../../schemas/compile-shape.ts';
import { ModelEntry } from '../deployments.ts';
import { describeUnconfigured, didYouMean } from '../did-you-mean.ts';
import { listEntries, listObjects } from '../entries.ts';
import { fieldBounds } from '../fields.ts';
import type { Issue } from '../issue.ts';
import { defaultProtocol, getTraits, modelProtocols, protocols } from '../protocols.ts';
import { getChild, readSchema } from '../schema-node.ts';
import { readUpstreamKey } from '../upstream-key.ts';
import { isHeaderName } from '../values.ts';

/** A field that requests do not validate, but whose default must be valid. */
const outputBound = compileShape(Type.Object({ max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1 })) }));

/** Yields errors of models and applications that the schema cannot express. */
export function* findDeploymentIssues(configuration: unknown): Iterable<Issue> {
  const models = listEntries(configuration, 'models');
  const applications = listEntries(configuration, 'applications');
  for (const [id, model] of models) {
    yield* findIdIssues('models', id);
    yield* findModelIssues(id, model);
    for (const issue of findDefaultIssues(model)) yield { ...issue, path: ['models', id, ...issue.path] };
    for (const issue of findFeatureIssues(model)) yield { ...issue, path: ['models', id, ...issue.path] };
  }
  const modelIds = new Set(models.map(([id]) => id));
  const ids = new Set([...modelIds, ...applications.map(([id]) => id)]);
  for (const [id, application] of applications) {
    yield* findIdIssues('applications', id);
    if (modelIds.has(id)) {
      yield { path: ['applications', id], message: 'is also the ID of a model, but models and applications share one namespace' };
    }
    for (const issue of findApplicationIssues(application, ids)) yield { ...issue, path: ['applications', id, ...issue.path] };
  }
}

function* findIdIssues(section: string, id: string): Iterable<Issue> {
  const path = [section, id];
  if (!isDeploymentId(id)) {
    yield {
      path,
      message:
        'is not a valid ID: it must have no empty, "." or ".." segments, no control characters, and at most 1024 characters',
    };
  } else if (id.startsWith('applications/')) {
    yield {
      path,
      message: 'is not a valid ID: the prefix applications/ is reserved for applications that are created through the API',
    };
  }
}

/** Checks the defaults of a deployment as fields of a request. */
function* findDefaultIssues({ defaults, type }: JsonObject): Iterable<Issue> {
  if (!isJsonObject(defaults)) return;
  const content = type === 'embedding' ? 'input' : 'messages';
  if (defaults[content] !== undefined) yield { path: ['defaults', content], message: 'cannot be a default' };
  try {
    if (type === 'embedding') parseEmbeddingsRequest({ ...defaults, input: 'a' });
    else requireShape(outputBound, parseChatRequest({ ...defaults, messages: [{ role: 'user', content: '' }] }));
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const param = error.param ?? '';
    const claim = error.message.slice(param.length + 1).replace(/\.$/, '');
    yield { path: ['defaults', ...param.split('.').filter((key) => key !== '')], message: claim };
    return;
  }
  const path = findInfinite(defaults);
  if (path !== undefined) yield { path: ['defaults', ...path], message: 'must be a finite number' };
}

/** Returns the path of the first number that is not finite. */
function findInfinite(value: unknown): readonly (string | number)[] | undefined {
  if (isInfinite(value)) return [];
  const members = Array.isArray(value) ? value.entries() : isJsonObject(value) ? Object.entries(value) : [];
  for (const [key, member] of members) {
    const path = findInfinite(member);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/** Header fields that frame a request. */
const framingFields: ReadonlySet<string> = new Set([...ownFields, 'upgrade', 'te', 'trailer', 'expect']);

function* findModelIssues(id: string, model: JsonObject): Iterable<Issue> {
  yield* findAdapterIssues(id, model);
  for (const [index, upstream] of listObjects(model.upstreams)) {
    const path = ['models', id, 'upstreams', index];
    const protocol = upstream.protocol ?? model.protocol ?? defaultProtocol;
    if (getTraits(protocol).needsEndpoint && upstream.endpoint === undefined) {
      yield { path: [...path, 'endpoint'], message: `is missing, but an upstream with the protocol ${protocol} requires it` };
    }
    for (const issue of findApiIssues(protocol, upstream)) yield { ...issue, path: [...path, ...issue.path] };
    for (const issue of findKeyIssues(protocol, upstream)) yield { ...issue, path: [...path, ...issue.path] };
    for (const name of Object.keys(toObject(upstream.headers))) {
      if (!isHeaderName(name)) yield { path: [...path, 'headers', name], message: 'is not a valid header field name' };
      else if (framingFields.has(name.toLowerCase()))
        yield { path: [...path, 'headers', name], message: 'is set by Parley and cannot be configured' };
    }
  }
}

function* findApiIssues(protocol: unknown, { api = 'chat' }: JsonObject): Iterable<Issue> {
  if (api === 'chat' || getTraits(protocol).hasSeveralApis) return;
  const supportedProtocols = modelProtocols.filter((name) => protocols[name].hasSeveralApis).join(' and ');
  yield { path: ['api'], message: `is only for the protocols ${supportedProtocols}, because ${protocol} has one API` };
}

/** Yields errors of the adapter that serves a model. */
function* findAdapterIssues(id: string, { endpoint, protocol, upstreams }: JsonObject): Iterable<Issue> {
  const path = ['models', id, 'endpoint'];
  const isCalled = listObjects(upstreams).some(([, upstream]) => getTraits(upstream.protocol ?? protocol).usesModelEndpoint);
  if (isCalled && endpoint === undefined)
    yield { path, message: 'is missing, but upstreams with the protocol dial are called at the endpoint of their model' };
  if (!isCalled && endpoint !== undefined)
    yield {
      path,
      message: 'is never called, because only upstreams with the protocol dial are called at the endpoint of their model',
    };
}

/** Yields errors of the credentials and the region of an upstream. */
function* findKeyIssues(protocol: unknown, { key, region }: JsonObject): Iterable<Issue> {
  if (key === undefined && getTraits(protocol).needsKey)
    yield { path: ['key'], message: `is missing, but an upstream with the protocol ${protocol} requires it` };
  const parsedKey = typeof key === 'string' && key !== '' ? readUpstreamKey(protocol, key) : undefined;
  if (parsedKey !== undefined && 'error' in parsedKey) yield { path: ['key'], message: parsedKey.error };
  if (typeof region === 'string' && region !== '' && !/^[a-z0-9-]{1,63}$/.test(region))
    yield {
      path: ['region'],
      message: 'must be a region, such as eu-central-1: lowercase letters, digits, and hyphens',
    };
}

/**
 * Features that affect Parley. Features that end in `Supported` are only announced to clients, and other gateways define more of
 * them.
 */
const ownFeatures = Object.keys(getChild(readSchema(ModelEntry), 'features').properties ?? {});

/** Yields likely misspellings. Unknown features are allowed, but a misspelled feature would be ignored without an error. */
function* findFeatureIssues({ features }: JsonObject): Iterable<Issue> {
  const keys = Object.keys(toObject(features));
  // The schema rejects more keys. The comparison of each key with all features takes 0.3 ms.
  if (keys.length > fieldBounds.maxProperties) return;
  for (const key of keys) {
    const suggestion = ownFeatures.includes(key) || isForeignFeature(key) ? {} : didYouMean(key, ownFeatures);
    if (suggestion.hint !== undefined) yield { path: ['features', key], message: 'is not a known key', ...suggestion };
  }
}

/**
 * Returns whether a key is a feature of another gateway. Keys that end in `Supported` are, unless they differ from a known
 * feature only in case or in one missing letter.
 */
function isForeignFeature(key: string): boolean {
  const isNear = ownFeatures.some(
    (feature) =>
      feature.toLowerCase() === key.toLowerCase() || (feature.length - 1 === key.length && lacksOneLetter(feature, key)),
  );
  return key.endsWith('Supported') && !isNear;
}

/** Returns whether the key is the feature with one letter left out. */
function lacksOneLetter(feature: string, key: string): boolean {
  let at = 0;
  while (feature[at] === key[at]) at += 1;
  return feature.slice(at + 1) === key.slice(at);
}

/**
 * Yields errors of one application that its schema cannot express. Paths start at its entry. `ids` are the IDs of all
 * deployments. If `ids` is undefined, the model can be any ID.
 */
export function* findApplicationIssues(application: JsonObject, ids: ReadonlySet<string> | undefined): Iterable<Issue> {
  const { endpoint, applicationTypeSchemaId: schemaId, applicationProperties: properties } = application;
  yield* findFeatureIssues(application);
  yield* findDefaultIssues(application);
  if (endpoint !== undefined && (schemaId !== undefined || properties === undefined)) return;
  if (schemaId !== undefined) {
    if (typeof schemaId === 'string' && !isQuickAppSchemaId(schemaId)) {
      yield {
        path: ['applicationTypeSchemaId'],
        message: `is not a known application type: it must end in ${quickAppSuffix}`,
      };
    }
    if (properties === undefined)
      yield { path: ['applicationProperties'], message: 'is missing, but applicationTypeSchemaId requires it' };
    else if (typeof schemaId === 'string' && isQuickAppSchemaId(schemaId)) yield* findPropertyIssues(properties, ids);
  } else if (properties !== undefined) {
    yield { path: ['applicationTypeSchemaId'], message: 'is missing, but applicationProperties requires it' };
  } else {
    yield {
      path: ['endpoint'],
      message: 'is missing: an application needs it, or applicationTypeSchemaId with applicationProperties',
    };
  }
}

/**
 * Checks that the model of a quick app exists. Deployments in its tools are resolved on each call instead. The schema rejects
 * values that are not objects.
 */
function* findPropertyIssues(properties: unknown, ids: ReadonlySet<string> | undefined): Iterable<Issue> {
  if (!isJsonObject(properties)) return;
  const errors = findQuickAppIssues(properties);
  for (const issue of errors) yield { ...issue, path: ['applicationProperties', ...issue.path] };
  const { model } = properties;
  if (ids === undefined || typeof model !== 'string' || model === '') return;
  if (ids.has(model) || model.startsWith('applications/')) return;
  yield { path: ['applicationProperties', 'model'], ...describeUnconfigured('a deployment', model, ids) };
}
