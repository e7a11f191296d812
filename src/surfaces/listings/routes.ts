import type { FastifyInstance } from 'fastify';
import { pathBelow } from '#base/url-path.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { findUsable, listUsable } from '#domain/deployments/usable-deployments.ts';
import { readCredentials } from '../http/read-request.ts';
import { readKinds } from './deployment-kinds.ts';
import { toListItem } from './list-item.ts';
import { type ListedAs, listedAs, listedAsModels } from './listed-as.ts';

export interface ListingDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly identify: Identify;
  /** Prefixes that have the listings, such as `openai`. */
  readonly prefixes: readonly string[];
  /** Where everything is listed as clients of OpenAI's API ask for it, such as `/v1/models`. */
  readonly modelPaths: readonly string[];
  /** Shown as the time a deployment of the configuration was made; seconds since the epoch. */
  readonly createdSeconds: number;
}

/**
 * `/{prefix}/deployments|models|applications[/{id}]`, `/v1/models[/{id}]` with its aliases and `/v1/deployment-names`: what the caller
 * may use (docs/wire.md, Listings).
 */
export function listingRoutes(app: FastifyInstance, deps: ListingDeps): void {
  for (const prefix of deps.prefixes) {
    for (const [kind, as] of Object.entries(listedAs)) list(app, deps, { base: `/${prefix}/${kind}`, as });
  }
  for (const base of deps.modelPaths) list(app, deps, { base, as: listedAsModels });
  app.get('/v1/deployment-names', async (request) => {
    const caller = await deps.identify(readCredentials(request.raw), request.raw, 'accepts bound keys');
    const kinds = readKinds(request.query);
    const usable = await listUsable({ ...deps, snapshot: deps.snapshot(), caller }, ({ kind }) => kinds.has(kind));
    return usable.map(({ id, kind }) => ({ id, object: kind }));
  });
}

interface Listing {
  readonly base: string;
  readonly as: ListedAs;
}

function list(app: FastifyInstance, deps: ListingDeps, { base, as }: Listing): void {
  const toItem = (deployment: Deployment, caller: Caller) => ({
    ...toListItem(deployment, deps.createdSeconds),
    ...as.toFields(deployment, caller),
  });
  app.get(base, async (request) => {
    const caller = await deps.identify(readCredentials(request.raw), request.raw, 'accepts bound keys');
    const usable = await listUsable({ catalog: deps.catalog, snapshot: deps.snapshot(), caller }, as.has);
    return { object: 'list', data: usable.map((deployment) => toItem(deployment, caller)) };
  });
  app.get(`${base}/*`, async (request) => {
    const caller = await deps.identify(readCredentials(request.raw), request.raw, 'accepts bound keys');
    const id = toDeploymentId(pathBelow(`${base}/`, request.url));
    const lookup = { catalog: deps.catalog, snapshot: deps.snapshot(), caller };
    return toItem(await findUsable(lookup, id, as.has), caller);
  });
}
