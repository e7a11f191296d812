import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { ForeignObject } from '../foreign-object.ts';
import { type Source, SourceError } from '../read-source.ts';
import { type ImportContext, toDigest } from '../result.ts';
import { type ModelGroup, readModelList } from './model-list.ts';
import { unsupportedGeneral, unsupportedRouter, unsupportedSettings, unsupportedTop } from './unsupported-keys.ts';
import type { LitellmContext } from './upstream.ts';

/** Imports the configuration of a LiteLLM proxy. */
export function importLitellm(sources: readonly Source[], importContext: ImportContext): void {
  const [source] = sources;
  if (source === undefined) return;
  requireSections(source);
  const root = new ForeignObject(source.value, [], { notes: importContext.notes, usesSnakeCase: true });
  const settings = root.object('litellmSettings');
  const router = root.object('routerSettings');
  const sections = [settings, router].filter((section) => section !== undefined);
  const credentials = root.items('credentialList').flatMap((credential) => {
    const values = credential.object('credentialValues');
    return values === undefined ? [] : [[credential.text('credentialName') ?? '', values] as const];
  });
  const context: LitellmContext = {
    ...importContext,
    credentials: new Map(credentials),
    timeoutSeconds: settings?.number('requestTimeout'),
  };
  const groups = new Map(readModelList(root, context));
  addFallbacks(sections, groups, context);
  if (router !== undefined) addAliases(router, groups, context);
  const retries = router?.number('numRetries') ?? settings?.number('numRetries');
  for (const [name, { path, type, upstreams, fields }] of groups) {
    const entry = {
      ...(type === 'embedding' && { type }),
      upstreams,
      ...fields,
      ...(retries !== undefined && { maxRetryAttempts: retries + 1 }),
    };
    context.result.put('models', name, path, entry);
  }
  importAccess(root, context);
  reportStrategy(router, context);
  settings?.value('numRetries');
  settings?.reportUnread(unsupportedSettings, 'litellm_settings');
  router?.reportUnread(unsupportedRouter, 'router_settings');
  root.reportUnread(unsupportedTop, 'LiteLLM');
}

/** Adds each alias as a separate model with the same upstreams. */
function addAliases(router: ForeignObject, groups: Map<string, ModelGroup>, { notes }: LitellmContext): void {
  const aliases = router.object('modelGroupAlias');
  for (const alias of aliases?.keys() ?? []) {
    const aliasValue = aliases?.value(alias);
    const nested = typeof aliasValue === 'object' ? aliases?.object(alias) : undefined;
    const target = nested?.text('model') ?? (typeof aliasValue === 'string' ? aliasValue : undefined);
    const path = aliases?.at(alias) ?? [];
    const group = target === undefined ? undefined : groups.get(target);
    if (group === undefined) notes.addLoss(path, 'is not imported: its target is not in the result');
    else if (groups.has(alias)) notes.addLoss(path, 'is not imported: a model has the same name');
    else groups.set(alias, group);
    if (nested?.flag('hidden')) notes.addLoss(nested.at('hidden'), 'is not imported: the model is listed', 'set its `userRoles`');
  }
}

function reportStrategy(router: ForeignObject | undefined, { notes }: LitellmContext): void {
  const strategy = router?.text('routingStrategy');
  if (router !== undefined && strategy !== undefined && strategy !== 'simple-shuffle')
    notes.addLoss(router.at('routingStrategy'), 'is not imported: Parley balances upstreams by `weight`, lowest `tier` first');
}

function requireSections({ file, value, findLine }: Source): void {
  const list = value.model_list;
  if (list === undefined || list === null)
    throw new SourceError({ file, path: '', message: 'is not a LiteLLM configuration: it has no model_list' });
  if (!Array.isArray(list))
    throw new SourceError({ file: `${file}:${findLine(['model_list']).line}`, path: 'model_list', message: 'must be a list' });
}

/** Imports the master key, and the issuer of tokens. */
function importAccess(root: ForeignObject, context: LitellmContext): void {
  const general = root.object('generalSettings');
  const master = general?.text('masterKey');
  if (general === undefined || master === undefined || master === '')
    context.notes.addLoss(
      ['general_settings', 'master_key'],
      'is missing: LiteLLM then accepts all requests, but Parley requires a key',
      'add one to `keys` of the result',
    );
  else
    context.result.put('keys', 'master', general.at('masterKey'), {
      project: 'master',
      roles: ['admin'],
      ...toSecret(master, general, context),
    });
  const issuer = general?.object('litellmJwtauth');
  if (issuer !== undefined) importIssuer(issuer, context);
  general?.reportUnread(unsupportedGeneral, 'general_settings');
}

function toSecret(master: string, general: ForeignObject, { notes, variables }: LitellmContext): JsonObject {
  const masterKey = variables.convertReferences(master);
  return masterKey === master ? toDigest(master, general.at('masterKey'), notes) : { key: masterKey };
}

/** Imports the settings for tokens. Parley requires the name of the issuer. */
function importIssuer(jwt: ForeignObject, context: LitellmContext): void {
  const { notes, variables, result } = context;
  const issuer = jwt.text('issuer');
  const keys = jwt.text('publicKeyUrl');
  if (issuer === undefined) {
    notes.addLoss(
      jwt.path,
      'is not imported: it has no issuer',
      'write an entry of `identityProviders` with the `iss` claim of the tokens (docs/identity.md)',
    );
    return;
  }
  const audience = jwt.text('audience');
  const userIdClaim = jwt.text('userIdJwtField');
  const rolesClaim = jwt.text('rolesJwtField') ?? jwt.text('teamIdsJwtField');
  jwt.reportUnread(
    {
      teamIdsJwtField: 'Parley reads roles from one claim',
      roleMappings: 'Parley uses the roles of the token, so use their names in `roles` and `userRoles`',
    },
    'litellm_jwtauth',
  );
  const entry = {
    issuer: variables.convertReferences(issuer),
    ...(keys !== undefined &&
      !keys.endsWith('/.well-known/openid-configuration') && { jwksUrl: variables.convertReferences(keys) }),
    ...(audience !== undefined && { audience: variables.convertReferences(audience) }),
    ...(userIdClaim !== undefined && { userIdClaim }),
    ...(rolesClaim !== undefined && { rolesClaim }),
  };
  result.put('identityProviders', 'litellm', jwt.path, entry);
}

type Groups = ReadonlyMap<string, ModelGroup>;

/**
 * Imports `fallbacks` and `default_fallbacks` as tiers: the upstreams of the fallback models get higher tiers than those of the
 * model itself.
 */
function addFallbacks(sections: readonly ForeignObject[], groups: Groups, context: LitellmContext): void {
  const ownUpstreams = new Map([...groups].map(([name, { upstreams }]) => [name, [...upstreams]]));
  const fallbacks = { groups, ownUpstreams, context };
  const modelsWithFallbacks = new Set<string>();
  for (const holder of sections) {
    for (const entry of holder.items('fallbacks')) {
      for (const model of entry.keys()) {
        modelsWithFallbacks.add(model);
        addFallbackTiers(model, entry, model, fallbacks);
      }
    }
  }
  for (const holder of sections) {
    if (holder.value('defaultFallbacks') === undefined) continue;
    for (const model of groups.keys())
      if (!modelsWithFallbacks.has(model)) addFallbackTiers(model, holder, 'defaultFallbacks', fallbacks);
  }
}

interface FallbackContext {
  readonly groups: Groups;
  readonly ownUpstreams: ReadonlyMap<string, readonly JsonObject[]>;
  readonly context: LitellmContext;
}

/** Adds the models that `holder` lists under `key` as fallbacks of `model`. */
function addFallbackTiers(
  model: string,
  holder: ForeignObject,
  key: string,
  { groups, ownUpstreams, context }: FallbackContext,
): void {
  const { notes, result } = context;
  const group = groups.get(model);
  const fallbacks = holder.value(key);
  const names = Array.isArray(fallbacks) ? fallbacks : [];
  if (group === undefined) {
    notes.addLoss(holder.at(key), `is not imported: ${model} is not in the result`);
    return;
  }
  let wasAdded = false;
  for (const [index, name] of names.entries()) {
    const reason = getOmissionReason(model, name, groups);
    if (reason !== undefined) {
      notes.addLoss([...holder.at(key), index], `is not imported: ${reason}`);
      continue;
    }
    const first = 1 + Math.max(...group.upstreams.map(getTier));
    for (const upstream of ownUpstreams.get(name) ?? []) {
      group.upstreams.push(result.withOrigin(holder.at(key), { ...upstream, tier: first + getTier(upstream) }));
      wasAdded = true;
    }
  }
  if (wasAdded)
    notes.addLoss(
      holder.at(key),
      `became tiers of ${model}: their calls count as calls of ${model} for usage, costs, and limits`,
      'check its `pricing` and `roles`',
    );
}

/** Returns why a model cannot be a fallback, or undefined if it can. */
function getOmissionReason(model: string, name: unknown, groups: Groups): string | undefined {
  if (typeof name !== 'string')
    return isJsonObject(name) ? 'Parley does not support fallbacks with separate parameters' : 'it must be the name of a model';
  if (name === model) return 'a model cannot be its own fallback';
  const fallback = groups.get(name);
  if (fallback === undefined) return `${name} is not in the result`;
  return fallback.type === groups.get(model)?.type ? undefined : `${name} has a different mode`;
}

function getTier({ tier }: JsonObject): number {
  return typeof tier === 'number' ? tier : 0;
}
