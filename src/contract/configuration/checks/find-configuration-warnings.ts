import { toAccents } from '../../page/brand.ts';
import { isQuickAppSchemaId } from '../../quick-app/form.ts';
import { looksUnreadable, unreadableDocument } from '../../quick-app/unreadable-document.ts';
import { defaultRole } from '../../roles.ts';
import { toVisibleKeyName } from '../access.ts';
import type { Configuration } from '../configuration.ts';
import { describeUnconfigured, didYouMean } from '../did-you-mean.ts';
import type { Issue, Path } from '../issue.ts';
import { hasLimits, type LimitSettings } from '../limits.ts';
import { defaultMessagesTokens, getProtocol, protocols } from '../protocols.ts';
import { parseTime } from '../values.ts';
import { findAlertWarnings, mayExist } from './find-alert-issues.ts';

const deploymentSections: ReadonlySet<unknown> = new Set(['models', 'applications', 'addons']);

/**
 * Yields warnings about valid settings that are probably mistakes. The configuration lacks the invalid entries with
 * `removedPaths`. `nowMs` is the current time, in milliseconds since the epoch.
 */
export function* findConfigurationWarnings(
  configuration: Configuration,
  nowMs: number,
  removedPaths: readonly Path[] = [],
): Iterable<Issue> {
  const removedIds = removedPaths.filter(([section]) => deploymentSections.has(section)).map(([, name]) => String(name));
  const ids = new Set([...Object.keys(configuration.models), ...Object.keys(configuration.applications), ...removedIds]);
  if (removedPaths.length === 0) yield* findMissingModels(configuration, ids);
  yield* findDanglingDependencies(configuration, ids);
  yield* findDanglingTools(configuration, ids);
  yield* findIgnoredTypes(configuration);
  // These warnings would be false if a role, key, provider, or project was removed.
  if (removedIds.length === removedPaths.length) {
    yield* findUnknownUserRoles(configuration);
    yield* findMisspelledKeyRoles(configuration);
    yield* findAlertWarnings(configuration, ids);
    yield* findUnusableSelfService(configuration);
    yield* findUnknownScimProvider(configuration);
  }
  yield* findKeyWarnings(configuration, ids, nowMs);
  yield* findUnusedLimits(configuration, ids);
  for (const [index, { id }] of configuration.addin.models.entries())
    yield* findDangling(['addin', 'models', index, 'id'], id, ids);
  yield* findAudienceWarnings(configuration);
  yield* findUpstreamWarnings(configuration);
  yield* findAccentWarnings(configuration);
  yield* findCostLimitsWithoutPrices(configuration);
  yield* findPricesPerMillion(configuration);
  yield* findNegativeLimits(configuration);
  yield* findSelfReferences(configuration);
  yield* findDefaultReplyLengths(configuration);
  yield* findUnreadableDocuments(configuration);
}

function* findAudienceWarnings({ identityProviders }: Configuration): Iterable<Issue> {
  for (const [name, { audience, signIn }] of Object.entries(identityProviders)) {
    const path = ['identityProviders', name, 'audience'];
    if (audience === undefined)
      yield {
        path,
        message: 'is missing, so Parley also accepts tokens that the issuer creates for other services',
        isNotice: true,
      };
    else if (signIn?.token === 'id_token' && signIn.clientId !== audience)
      yield {
        path,
        message: 'is not the clientId of signIn, which is the audience of its id_token, so Parley may reject users who sign in',
      };
  }
}

/** An entry with limits, and its path. */
interface LimitedEntry extends LimitSettings {
  readonly start: readonly [section: 'roles' | 'projects' | 'users' | 'keys', name: string];
}

/** Yields the entries that set limits. */
function* listLimited({ roles, projects, users, keys }: Configuration): Iterable<LimitedEntry> {
  for (const [section, entries] of Object.entries({ roles, projects, users, keys } as const))
    for (const [name, entry] of Object.entries(entries as Readonly<Record<string, LimitSettings>>))
      if (hasLimits(entry)) yield { ...entry, start: [section as LimitedEntry['start'][0], name] };
}

/** Other products use limits below 0 for "unlimited". 0 is the documented way to deny access. */
function* findNegativeLimits(configuration: Configuration): Iterable<Issue> {
  for (const { start, limits = {}, totals = {}, costLimit = {} } of listLimited(configuration)) {
    const sections: (readonly [Issue['path'], Readonly<Record<string, number | undefined>>])[] = [
      [[...start, 'costLimit'], costLimit],
      [[...start, 'totals'], totals],
    ];
    for (const [id, limit] of Object.entries(limits)) sections.push([[...start, 'limits', id], limit]);
    for (const [path, values] of sections) {
      for (const [name, value = 0] of Object.entries(values)) {
        if (value >= 0) continue;
        yield { path: [...path, name], message: 'is negative and gives no access', hint: 'leave it out for no limit' };
      }
    }
  }
}

function* findSelfReferences({ applications }: Configuration): Iterable<Issue> {
  for (const [id, { endpoint, applicationProperties }] of Object.entries(applications)) {
    if (endpoint !== undefined || applicationProperties?.model !== id) continue;
    yield {
      path: ['applications', id, 'applicationProperties', 'model'],
      message: 'is the application itself, so every call ends with an error',
      hint: 'name a model',
    };
  }
}

/** Yields a notice for each model without prices if a role, a project, a user, or a key has a cost limit. */
function* findCostLimitsWithoutPrices(configuration: Configuration): Iterable<Issue> {
  const { models, keys } = configuration;
  const [limited] = [...listLimited(configuration)].filter(({ costLimit = {} }) => Object.keys(costLimit).length > 0);
  if (limited === undefined) return;
  const [section, name] = limited.start;
  const holder = section === 'keys' ? `key ${toVisibleKeyName(keys, name)}` : `${section.slice(0, -1)} ${name}`;
  for (const [id, model] of Object.entries(models)) {
    const isDemo = model.upstreams.every((upstream) => getProtocol(upstream, model) === 'demo');
    if (model.pricing !== undefined || isDemo) continue;
    yield {
      path: ['models', id, 'pricing'],
      message: `is missing, so calls to this model cost 0 and do not count toward the costLimit of the ${holder}`,
      hint: 'write "pricing": {} if the model is free',
      isNotice: true,
    };
  }
}

/**
 * Lowest suspicious price in USD per token. The most expensive models cost less than a tenth of this per token. The cheapest
 * models cost more than this per million tokens.
 */
const minSuspiciousPrice = 0.01;
const tokensPerMillion = 1_000_000;
const maxDecimals = 12;

function* findPricesPerMillion({ models }: Configuration): Iterable<Issue> {
  for (const [id, { pricing = {} }] of Object.entries(models)) {
    for (const name of ['prompt', 'completion', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const) {
      const price = pricing[name] ?? 0;
      if (price < minSuspiciousPrice) continue;
      // Pattern bound: a number of at most 40 characters.
      const perToken = (price / tokensPerMillion).toFixed(maxDecimals).replace(/0+$/, '');
      yield {
        path: ['models', id, 'pricing', name],
        message: `is ${price} USD for one token`,
        hint: `write ${perToken} for ${price} USD per million tokens`,
        isNotice: true,
      };
    }
  }
}

function* findUnreadableDocuments({ applications }: Configuration): Iterable<Issue> {
  for (const [id, { endpoint, applicationProperties }] of Object.entries(applications)) {
    if (endpoint !== undefined) continue;
    const documentUrl = applicationProperties?.document_relative_url;
    const path = ['applications', id, 'applicationProperties', 'document_relative_url'];
    for (const [index, name] of [documentUrl].flat().entries()) {
      if (typeof name === 'string' && looksUnreadable(name))
        yield { path: Array.isArray(documentUrl) ? [...path, index] : path, ...unreadableDocument };
    }
  }
}

/** Yields a notice for each model of the Messages dialect without a reply limit, because the dialect requires one. */
function* findDefaultReplyLengths({ models }: Configuration): Iterable<Issue> {
  for (const [id, model] of Object.entries(models)) {
    const { type, defaults, limits = {}, upstreams } = model;
    const isBounded = [limits.maxCompletionTokens, defaults.max_tokens, defaults.max_completion_tokens].some(
      (bound) => bound != null,
    );
    if (type !== 'chat' || isBounded) continue;
    const needsBound = upstreams.some((upstream) => {
      const { speaksMessages } = protocols[getProtocol(upstream, model)];
      return speaksMessages({ model: upstream.model ?? id, endpoint: URL.parse(upstream.endpoint ?? '') ?? undefined });
    });
    if (!needsBound) continue;
    yield {
      path: ['models', id, 'limits', 'maxCompletionTokens'],
      message: `is missing, so a reply ends after ${defaultMessagesTokens} tokens if the request has no max_tokens`,
      hint: 'write how many tokens the model can reply with',
      isNotice: true,
    };
  }
}

/** Finds `selfService` settings without an identity provider. Only signed-in users create keys for themselves. */
function* findUnusableSelfService({ roles, identityProviders }: Configuration): Iterable<Issue> {
  if (Object.keys(identityProviders).length > 0) return;
  for (const [name, { selfService }] of Object.entries(roles)) {
    if (selfService === undefined) continue;
    const message = 'has no effect without identityProviders, because only signed-in users can create keys';
    yield { path: ['roles', name, 'selfService'], message };
  }
}

/** Without its provider, no provisioned user gets the roles of its groups. */
function* findUnknownScimProvider({ scim: { provider }, identityProviders }: Configuration): Iterable<Issue> {
  if (provider === undefined || Object.hasOwn(identityProviders, provider)) return;
  yield { path: ['scim', 'provider'], ...describeUnconfigured('an identity provider', provider, Object.keys(identityProviders)) };
}

function* findAccentWarnings({ page: { accent } }: Configuration): Iterable<Issue> {
  if (accent === undefined) return;
  const { light } = toAccents(accent);
  if (light.accent !== accent.toLowerCase())
    yield { path: ['page', 'accent'], message: `is too pale for the light theme, which uses ${light.accent} instead` };
}

function* findUpstreamWarnings({ models }: Configuration): Iterable<Issue> {
  for (const [id, model] of Object.entries(models)) {
    for (const [index, upstream] of model.upstreams.entries()) {
      const { apiVersion, endpoint } = upstream;
      const protocol = getProtocol(upstream, model);
      const path = ['models', id, 'upstreams', index];
      if (protocols[protocol].needsApiVersion && apiVersion === undefined)
        yield { path: [...path, 'apiVersion'], message: `is missing, and most ${protocol} upstreams return 404 without it` };
      if (protocol !== 'azure' && protocol !== 'anthropic' && apiVersion !== undefined) {
        const message = `has no effect with the protocol ${protocol}`;
        yield { path: [...path, 'apiVersion'], message, hint: 'for Azure OpenAI, write "protocol": "azure"' };
      }
      if (protocols[protocol].needsEndpoint && endpoint !== undefined) yield* findFullUrls(endpoint, [...path, 'endpoint']);
    }
  }
}

/** Paths that Parley appends to the base address of a model's upstream. A deployment of Azure can have such a name. */
// Pattern bound: the endpoint of an upstream, which an administrator writes.
const operationPattern = /(?<!\/deployments)\/(chat\/completions|completions|embeddings|messages|responses)\/*$/;

/**
 * Other gateways are configured with the complete URL of one operation. The message does not quote the URL, because it can
 * contain secrets.
 */
function* findFullUrls(endpoint: string, path: Issue['path']): Iterable<Issue> {
  const [, name] = operationPattern.exec(URL.parse(endpoint)?.pathname ?? '') ?? [];
  if (name === undefined) return;
  yield {
    path,
    message: `ends in /${name}, which Parley appends on each call, so most upstreams return 404`,
    hint: `write the address without /${name}, such as https://api.example/v1`,
  };
}

function* findMissingModels({ keys, identityProviders, models }: Configuration, ids: ReadonlySet<string>): Iterable<Issue> {
  if (ids.size === 0) yield { path: ['models'], message: 'is empty, so Parley serves no models or applications' };
  if (Object.keys(keys).length + Object.keys(identityProviders).length === 0)
    yield { path: ['keys'], message: 'is empty, and there are no identityProviders, so no client can call Parley' };
  for (const [id, { upstreams }] of Object.entries(models)) {
    if (upstreams.every(({ weight }) => weight === 0))
      yield { path: ['models', id, 'upstreams'], message: 'all have a weight of 0, so Parley never calls them' };
  }
}

function* findDanglingDependencies(configuration: Configuration, ids: ReadonlySet<string>): Iterable<Issue> {
  for (const section of ['models', 'applications'] as const) {
    for (const [id, { dependencies }] of Object.entries(configuration[section])) {
      for (const [index, dependency] of dependencies.entries())
        yield* findDangling([section, id, 'dependencies', index], dependency, ids);
    }
  }
}

function* findIgnoredTypes({ applications }: Configuration): Iterable<Issue> {
  for (const [id, { endpoint, applicationTypeSchemaId: schemaId = '' }] of Object.entries(applications)) {
    const path = ['applications', id, 'applicationTypeSchemaId'];
    if (endpoint !== undefined && isQuickAppSchemaId(schemaId))
      yield { path, message: 'is the type of quick apps, but has no effect, because the application has an endpoint' };
  }
}

function* findDanglingTools({ applications }: Configuration, ids: ReadonlySet<string>): Iterable<Issue> {
  for (const [application, { applicationProperties }] of Object.entries(applications)) {
    const tools = applicationProperties?.applications_as_tools;
    for (const [index, id] of (Array.isArray(tools) ? tools : []).entries()) {
      const path = ['applications', application, 'applicationProperties', 'applications_as_tools', index];
      if (typeof id === 'string') yield* findDangling(path, id, ids);
    }
  }
}

/** Returns the roles that keys and SCIM groups have. Tokens of identity providers can contain other roles. */
export function listAssignedRoles({ keys, scim }: Pick<Configuration, 'keys' | 'scim'>): ReadonlySet<string> {
  const keyRoles = Object.values(keys).flatMap(({ role, roles = [] }) => (role === undefined ? roles : [role, ...roles]));
  return new Set([defaultRole, ...keyRoles, ...Object.values(scim.groups).flat()]);
}

/** Returns the roles that the configuration names. Tokens of identity providers can contain other roles. */
export function listKnownRoles(configuration: Pick<Configuration, 'roles' | 'keys' | 'scim'>): ReadonlySet<string> {
  return new Set([...listAssignedRoles(configuration), ...Object.keys(configuration.roles)]);
}

/**
 * Finds entries whose `userRoles` name an unknown role. If tokens can contain additional roles, only likely misspellings cause
 * a warning.
 */
function* findUnknownUserRoles(configuration: Configuration): Iterable<Issue> {
  const { identityProviders } = configuration;
  const knownRoles = listKnownRoles(configuration);
  const isOpen = Object.values(identityProviders).some(({ rolesClaim }) => rolesClaim !== undefined);
  for (const section of ['models', 'applications', 'prompts'] as const) {
    for (const [id, { userRoles = [] }] of Object.entries(configuration[section])) {
      for (const [index, role] of userRoles.entries()) {
        if (knownRoles.has(role)) continue;
        const suggestion = didYouMean(role, knownRoles);
        if (isOpen && suggestion.hint === undefined) continue;
        yield {
          path: [section, id, 'userRoles', index],
          message: `names ${JSON.stringify(role)}, a role that is not in roles and that no key or SCIM group has`,
          ...suggestion,
        };
      }
    }
  }
}

/**
 * Finds unknown roles of keys. A misspelled role has the limits of `default`, or no limits, so it could grant too much access.
 */
function* findMisspelledKeyRoles({ roles, keys }: Configuration): Iterable<Issue> {
  const knownRoles = new Set([defaultRole, ...Object.keys(roles)]);
  for (const [name, key] of Object.entries(keys)) {
    const assignments = [
      ...(key.role === undefined ? [] : [{ role: key.role, path: ['keys', name, 'role'] }]),
      ...(key.roles ?? []).map((role, index) => ({ role, path: ['keys', name, 'roles', index] })),
    ];
    for (const { role, path } of assignments) {
      if (knownRoles.has(role)) continue;
      const warning = describeUnconfigured('a role', role, knownRoles);
      if (warning.hint !== undefined) yield { path, ...warning };
    }
  }
}

function* findUnusedLimits(configuration: Configuration, ids: ReadonlySet<string>): Iterable<Issue> {
  for (const { start, limits = {} } of listLimited(configuration)) {
    for (const id of Object.keys(limits)) if (id !== '*') yield* findDangling([...start, 'limits', id], id, ids);
  }
}

/** Yields a warning if a deployment is not configured and cannot be created through the API. */
function* findDangling(path: Issue['path'], id: string, ids: ReadonlySet<string>): Iterable<Issue> {
  if (!mayExist(id, ids)) yield { path, ...describeUnconfigured('a deployment', id, ids) };
}

/** Yields a warning for each expired key, and for each unknown deployment that a key is bound to. */
function* findKeyWarnings({ keys }: Configuration, ids: ReadonlySet<string>, nowMs: number): Iterable<Issue> {
  for (const [name, { expiresAt, deployments = [] }] of Object.entries(keys)) {
    if (expiresAt !== undefined && (parseTime(expiresAt) ?? nowMs) <= nowMs) {
      yield {
        path: ['keys', name, 'expiresAt'],
        message: 'is in the past, so Parley rejects the key',
        hint: 'delete the entry or write a later time',
      };
    }
    for (const [index, id] of deployments.entries()) yield* findDangling(['keys', name, 'deployments', index], id, ids);
  }
}
