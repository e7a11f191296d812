import { hash } from 'node:crypto';
import { filterStrings, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { findDeploymentIssues } from './checks/deployment-rules.ts';
import { findAlertIssues } from './checks/find-alert-issues.ts';
import { describeUnconfigured } from './did-you-mean.ts';
import { getSection, listEntries } from './entries.ts';
import type { Issue, Path } from './issue.ts';
import { resetKinds } from './limits.ts';
import { defaultAliases } from './service.ts';
import { isHeaderValue } from './values.ts';

/**
 * Returns errors that the schema cannot express. Accepts any value, so that these errors are reported together with those of the
 * schema.
 */
export function findRuleIssues(configuration: unknown): readonly Issue[] {
  return [
    ...findDeploymentIssues(configuration),
    ...findKeyIssues(configuration),
    ...findIdentityProviderIssues(configuration),
    ...findLimitResetIssues(configuration),
    ...findAlertIssues(configuration),
    ...findAliasIssues(configuration),
    ...findAddinIssues(configuration),
    ...findRecordIssues(configuration),
    ...findModelReferenceIssues(configuration, ['page', 'titleModel'], 'chat'),
    ...findModelReferenceIssues(configuration, ['retrieval', 'embeddingModel'], 'embedding'),
  ];
}

/** Yields errors of keys that the schema cannot express. */
function* findKeyIssues(configuration: unknown): Iterable<Issue> {
  const seen = new Set<string>();
  for (const [name, entry] of listEntries(configuration, 'keys')) {
    if (entry.role !== undefined && entry.roles !== undefined)
      yield { path: ['keys', name, 'role'], message: 'cannot be combined with roles' };
    if (entry.key !== undefined && entry.sha256 !== undefined)
      yield { path: ['keys', name, 'sha256'], message: 'cannot be combined with key' };
    const { digest, path } = getKeyDigest(name, entry);
    if (path.length === 2 || path[2] === 'key') yield* findSpellingIssues(entry.key ?? name, path);
    if (seen.has(digest)) yield { path, message: 'is also the key of another entry' };
    seen.add(digest);
  }
}

/** Returns the digest of the key of an entry, and the path of the key. */
function getKeyDigest(name: string, { key, sha256 }: JsonObject): { readonly digest: string; readonly path: Path } {
  if (typeof key === 'string') return { digest: hash('sha256', key, 'hex'), path: ['keys', name, 'key'] };
  if (typeof sha256 === 'string') return { digest: sha256.toLowerCase(), path: ['keys', name, 'sha256'] };
  return { digest: hash('sha256', name, 'hex'), path: ['keys', name] };
}

function* findSpellingIssues(key: unknown, path: Path): Iterable<Issue> {
  if (typeof key !== 'string') return;
  if (key === '' && path.length === 2) yield { path, message: 'is not a valid key: it must not be empty' };
  else if (!isHeaderValue(key) || key !== key.trim()) {
    yield {
      path,
      message:
        'is not a valid key: it must not contain control or non-Latin-1 characters, or start or end with white space. Check for a trailing line break',
    };
  }
}

/** Yields errors of the names of limit resets. */
function* findLimitResetIssues(configuration: unknown): Iterable<Issue> {
  for (const name of Object.keys(getSection(configuration, 'limitResets'))) {
    if (!resetKinds.some((kind) => name.startsWith(`${kind}:`) && name.length > kind.length + 1))
      yield { path: ['limitResets', name], message: `must start with ${resetKinds.map((kind) => `${kind}:`).join(', ')}` };
  }
}

/**
 * Yields errors of identity providers that the schema cannot express. Each issuer must be unique, and the order of the entries
 * must not depend on their names.
 */
function* findIdentityProviderIssues(configuration: unknown): Iterable<Issue> {
  const seen = new Set<unknown>();
  for (const [name, { issuer, signIn }] of listEntries(configuration, 'identityProviders')) {
    if (/^\d+$/.test(name))
      yield {
        path: ['identityProviders', name],
        message: 'is not a valid name: it has only digits, which changes the order of the providers. Add a letter',
      };
    if (seen.has(issuer)) yield { path: ['identityProviders', name, 'issuer'], message: 'is also the issuer of another entry' };
    if (issuer !== undefined) seen.add(issuer);
    if (isJsonObject(signIn)) yield* findSignInIssues(['identityProviders', name, 'signIn'], signIn);
  }
}

/** Parameters that the page sets in an authorization request. */
const ownParameters: ReadonlySet<string> = new Set([
  'client_id',
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
]);

function* findSignInIssues(path: Issue['path'], { parameters, scopes, token }: JsonObject): Iterable<Issue> {
  for (const name of Object.keys(toObject(parameters))) {
    if (ownParameters.has(name)) yield { path: [...path, 'parameters', name], message: 'is set by the page' };
  }
  if (token === 'id_token' && Array.isArray(scopes) && !scopes.includes('openid'))
    yield { path: [...path, 'scopes'], message: 'must contain openid, because the provider issues no id_token without it' };
}

const reservedPrefixes: ReadonlySet<string> = new Set([
  'compat',
  'msgapi',
  'v1',
  'health',
  'ready',
  'metrics',
  'openapi.json',
  'docs',
  'assets',
  'brand',
  'custom_application_schemas',
]);
const surfaces = ['compat', 'msgapi'] as const;

/** Yields errors of aliases that the schema cannot express. */
function* findAliasIssues(configuration: unknown): Iterable<Issue> {
  const aliases = getSection(configuration, 'aliases');
  const seen = new Set<string>();
  for (const surface of surfaces) {
    for (const [index, alias] of filterStrings(aliases[surface]).entries()) {
      const path = ['aliases', surface, index];
      if (reservedPrefixes.has(alias)) yield { path, message: 'is reserved for paths of Parley' };
      else if (seen.has(alias)) yield { path, message: 'is a duplicate of another alias' };
      seen.add(alias);
    }
  }
}

/** Yields errors of the add-in gateway that the schema cannot express. The gateway receives every request below its prefix. */
function* findAddinIssues(configuration: unknown): Iterable<Issue> {
  const { prefix } = getSection(configuration, 'addin');
  if (typeof prefix !== 'string') return;
  const [, first = ''] = prefix.split('/');
  const aliases = getSection(configuration, 'aliases');
  const isAlias = surfaces.some((surface) => filterStrings(aliases[surface] ?? defaultAliases[surface]).includes(first));
  if (reservedPrefixes.has(first) || isAlias) yield { path: ['addin', 'prefix'], message: 'is reserved for paths of Parley' };
}

/** The content of calls is removed no later than their records. */
function* findRecordIssues(configuration: unknown): Iterable<Issue> {
  const { contentRetentionDays, retentionDays } = getSection(configuration, 'records');
  if (typeof contentRetentionDays !== 'number' || typeof retentionDays !== 'number') return;
  if (contentRetentionDays > retentionDays)
    yield { path: ['records', 'contentRetentionDays'], message: `must be at most retentionDays, which is ${retentionDays}` };
}

/** Yields an error if the model that a section names does not exist or is not of the type. */
function* findModelReferenceIssues(
  configuration: unknown,
  [section, key]: readonly [string, string],
  type: 'chat' | 'embedding',
): Iterable<Issue> {
  const id = getSection(configuration, section)[key];
  if (typeof id !== 'string' || id === '') return;
  const path = [section, key];
  const models = new Map(listEntries(configuration, 'models'));
  const hasType = (model: JsonObject) => (model.type === 'embedding') === (type === 'embedding');
  const model = models.get(id);
  const candidates = [...models].flatMap(([candidate, entry]) => (hasType(entry) ? [candidate] : []));
  if (model === undefined) yield { path, ...describeUnconfigured('a model', id, candidates) };
  else if (!hasType(model))
    yield { path, message: `names a model that is not ${type === 'chat' ? 'a chat' : 'an embedding'} model` };
}
