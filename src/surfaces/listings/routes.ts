import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import type { AddonEntry } from '#contract/configuration/service.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { buildQuickAppJsonSchema, isQuickAppSchemaId, quickAppSuffix, toPublicProperties } from '#contract/quick-app/form.ts';
import { removeSecrets } from '#contract/quick-app/secrets.ts';
import { adminRole } from '#contract/roles.ts';
import { isBoundKey } from '#domain/callers/bound-key.ts';
import { hasForeignApplication } from '#domain/callers/call-chain.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import { type Abilities, type Deployment, getAbilities } from '#domain/deployments/deployment.ts';
import { findUsable, listUsable } from '#domain/deployments/usable-deployments.ts';
import { ignoreStoreError } from '#domain/store-error.ts';
import type { People } from '#services/scim/people.ts';
import { rejectExtraSlashes } from '../http/path-methods.ts';
import { identifyCaller, type SurfaceDeps } from '../http/read-request.ts';
import { operator, toListItem } from './list-item.ts';

interface ListingDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot'> {
  readonly catalog: Catalog;
  /** Prefixes of the listings, such as `openai`. */
  readonly prefixes: readonly string[];
  /** Paths of listings in the form of OpenAI's API, such as `/v1/models`. */
  readonly modelPaths: readonly string[];
  /** Creation time to show for configured deployments, in seconds since the epoch. */
  readonly createdSeconds: number;
  /** Undefined if the service does not store who has signed in. */
  readonly people: Pick<People, 'find'> | undefined;
}

/**
 * Serves `/{prefix}/deployments|models|applications[/{id}]`, `/v1/models[/{id}]` with its aliases, and `/v1/deployment-names`:
 * the deployments that the caller may use (docs/wire.md, Listings).
 */
export function listingRoutes(app: FastifyInstance, deps: ListingDeps): void {
  for (const prefix of deps.prefixes) {
    for (const [kind, listing] of Object.entries(listings)) addListing(app, deps, `/${prefix}/${kind}`, listing);
  }
  for (const base of deps.modelPaths) addListing(app, deps, base, modelListing);
  app.get('/v1/deployment-names', async (request) => {
    const caller = await identifyCaller(deps, request, 'accepts bound keys');
    const kinds = readKinds(request.query);
    const usable = await listUsable({ ...deps, snapshot: deps.snapshot(), caller }, ({ kind }) => kinds.has(kind));
    return usable.map(({ id, kind }) => ({ id, object: kind }));
  });
}

function addListing(app: FastifyInstance, deps: ListingDeps, base: string, { includes, toFields }: Listing): void {
  const toItems = async (deployments: readonly Deployment[], caller: Caller) => {
    const owners = await findSharingOwners(deps, deployments, caller);
    return deployments.map((deployment) => ({
      ...toListItem(deployment, deps.createdSeconds),
      owner_name: owners.get(deployment.ownership?.owner ?? ''),
      ...toFields(deployment, caller),
    }));
  };
  app.get(base, async (request) => {
    const caller = await identifyCaller(deps, request, 'accepts bound keys');
    const usable = await listUsable({ catalog: deps.catalog, snapshot: deps.snapshot(), caller }, includes);
    return { object: 'list', data: await toItems(usable, caller) };
  });
  app.get(`${base}/*`, async (request) => {
    const caller = await identifyCaller(deps, request, 'accepts bound keys');
    const id = toDeploymentId(stripPathPrefix(`${base}/`, request.url));
    if (id === undefined) rejectExtraSlashes(request.url);
    const lookup = { catalog: deps.catalog, snapshot: deps.snapshot(), caller };
    return (await toItems([await findUsable(lookup, id, includes)], caller))[0];
  });
}

/** Returns the names of the owners who shared at least one of the applications directly with the caller. */
async function findSharingOwners(
  { people }: ListingDeps,
  deployments: readonly Deployment[],
  { subject, chain }: Caller,
): Promise<ReadonlyMap<string, string>> {
  const shared = chain === null ? deployments.filter(({ users }) => users?.includes(subject)) : [];
  const owners = new Set(shared.flatMap(({ ownership }) => (ownership === null ? [] : [ownership.owner])));
  owners.delete(subject);
  // A listing without names is better than none.
  const found = owners.size === 0 ? undefined : await people?.find([...owners]).catch(ignoreStoreError);
  return new Map([...(found?.values() ?? [])].map(({ id, name }) => [id, name ?? id]));
}

/** The deployments in a listing, and the fields that differ from other listings. */
interface Listing {
  readonly includes: (deployment: Deployment) => boolean;
  readonly toFields: (deployment: Deployment, caller: Caller) => Readonly<Record<string, unknown>>;
}

/** Listings below each prefix, by the last path segment. */
const listings: Readonly<Record<string, Listing>> = {
  deployments: {
    includes: () => true,
    toFields: ({ id, kind }) => ({ object: kind === 'model' ? 'model' : 'deployment', model: id }),
  },
  models: { includes: ({ kind }) => kind === 'model', toFields: ({ id }) => ({ object: 'model', model: id }) },
  applications: {
    includes: ({ kind }) => kind === 'application',
    toFields: (deployment, caller) => ({ object: 'application', application: deployment.id, ...toSettings(deployment, caller) }),
  },
};

/**
 * `/v1/models`, for clients of OpenAI's API. All entries have the object type `model`, and clients display `name` instead of the
 * ID. Limits and capabilities have the field names of OpenRouter, vLLM, Groq, and Anthropic, because clients read different ones.
 */
const modelListing: Listing = {
  includes: () => true,
  toFields: (deployment) => ({
    object: 'model',
    type: 'model',
    name: toName(deployment),
    ...toLimits(getAbilities(deployment)),
    ...(deployment.type === 'chat' && toAbilities(getAbilities(deployment))),
  }),
};

function toName({ id, displayName = id, displayVersion }: Deployment): string {
  return displayVersion === undefined ? displayName : `${displayName} ${displayVersion}`;
}

function toLimits({ contextTokens, maxOutputTokens }: Abilities): Record<string, unknown> {
  return {
    context_length: contextTokens,
    context_window: contextTokens,
    max_model_len: contextTokens,
    max_input_tokens: contextTokens,
    max_output_tokens: maxOutputTokens,
  };
}

function toAbilities({ readsImages, readsPdfs, supportsReasoning, callsTools }: Abilities): Record<string, unknown> {
  const inputs = ['text', ...(readsImages ? ['image'] : []), ...(readsPdfs ? ['file'] : [])];
  const parameters = [
    ...['max_tokens', 'response_format', 'stop', 'temperature', 'top_p'],
    ...(callsTools ? ['tools', 'tool_choice'] : []),
    ...(supportsReasoning ? ['reasoning_effort'] : []),
  ];
  return { architecture: { input_modalities: inputs, output_modalities: ['text'] }, supported_parameters: parameters };
}

/**
 * Returns the settings of an application that has a type. The owner and administrators get all settings. Other users get only the
 * properties that the form of the type marks as public.
 */
function toSettings(deployment: Deployment, caller: Caller): Record<string, unknown> {
  const { applicationType } = deployment;
  if (applicationType === undefined) return {};
  const properties = removeSecrets(applicationType.properties);
  const visibleProperties = maySeeSettings(deployment, caller) ? properties : toPublicProperties(properties);
  return {
    application_type_schema_id: applicationType.schemaId,
    ...(Object.keys(visibleProperties).length > 0 && { application_properties: visibleProperties }),
  };
}

function maySeeSettings({ ownership }: Deployment, caller: Caller): boolean {
  if (isBoundKey(caller)) return false;
  if (ownership?.owner === caller.subject && !hasForeignApplication(caller)) return true;
  return caller.chain === null && caller.roles.includes(adminRole);
}

/**
 * Serves `/{prefix}/addons`, the addons that a request may name under `addons`, and `/{prefix}/assistants`, which is always empty
 * (docs/wire.md, Listings).
 */
export function addonRoutes(app: FastifyInstance, deps: Omit<ListingDeps, 'catalog' | 'modelPaths' | 'people'>): void {
  for (const prefix of deps.prefixes) {
    app.get(`/${prefix}/addons`, async (request) => {
      await identifyCaller(deps, request, 'accepts bound keys');
      const { addons } = deps.snapshot().configuration;
      return {
        object: 'list',
        data: Object.entries(addons).map(([name, addon]) => toAddonItem(name, addon, deps.createdSeconds)),
      };
    });
    app.get(`/${prefix}/assistants`, async (request) => {
      await identifyCaller(deps, request, 'accepts bound keys');
      return { object: 'list', data: [] };
    });
  }
}

/** Returns the list entry of an addon. Omits its URL, which only the operator may know. */
function toAddonItem(name: string, { displayName, description }: AddonEntry, createdSeconds: number): Record<string, unknown> {
  return {
    id: name,
    object: 'addon',
    addon: name,
    display_name: displayName ?? name,
    description,
    owner: operator,
    status: 'succeeded',
    created_at: createdSeconds,
    updated_at: createdSeconds,
  };
}

/**
 * Serves the JSON Schema of quick apps, by its ID and at its own path. The path requires no key: the ID is a URL that schema
 * tools fetch without credentials, and the schema has no private data.
 */
export function schemaRoutes(app: FastifyInstance, deps: { readonly identify: Identify }): void {
  app.get('/v1/application_type_schemas/schema', async (request, reply) => {
    await identifyCaller(deps, request, 'accepts bound keys');
    return sendSchema(reply, readSchemaId(request).slice(0, -quickAppSuffix.length));
  });
  app.get(quickAppSuffix, (_request, reply) => sendSchema(reply, ''));
}

function readSchemaId({ query }: FastifyRequest): string {
  const { id } = query as Readonly<Record<string, unknown>>;
  const hint = `The ID must end with ${quickAppSuffix}`;
  if (typeof id !== 'string')
    throw new ParleyError('invalid_request', `The query parameter id must name an application type. ${hint}.`, { param: 'id' });
  if (!isQuickAppSchemaId(id))
    throw new ParleyError('route_not_found', `No application type has this ID. ${hint}.`, { param: 'id' });
  return id;
}

function sendSchema(reply: FastifyReply, base: string): FastifyReply {
  return reply.type('application/schema+json; charset=utf-8').send(JSON.stringify(buildQuickAppJsonSchema(base)));
}

/** Values of the parameter `type` of `/v1/deployment-names`. No deployment is a toolset, so `toolset` selects nothing. */
export const deploymentKinds: readonly string[] = ['model', 'application', 'toolset'];
/** Kinds to list if `type` is absent. */
const defaultKinds: readonly string[] = ['model', 'application'];

/**
 * Returns the requested kinds. The parameter may be repeated or comma-separated. Throws `invalid_request` for an unknown kind.
 */
function readKinds(query: unknown): ReadonlySet<string> {
  const { type } = query as { readonly type?: string | readonly string[] };
  const names = [type ?? []].flat().flatMap((text) => text.split(','));
  const kinds = names.map((kind) => kind.trim()).filter((kind) => kind !== '');
  const message = `type must be a comma-separated list of ${deploymentKinds.join(', ')}.`;
  if (!kinds.every((kind) => deploymentKinds.includes(kind)))
    throw new ParleyError('invalid_request', message, { param: 'type' });
  return new Set(kinds.length === 0 ? defaultKinds : kinds);
}
