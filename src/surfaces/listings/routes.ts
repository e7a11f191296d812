import type { FastifyInstance } from 'fastify';
import { pathBelow } from '#base/url-path.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { findUsable, listUsable } from '#domain/deployments/usable-deployments.ts';
import { readCredentials } from '../http/credentials.ts';
import { toListItem } from './list-item.ts';

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

const kinds: Readonly<Record<string, (deployment: Deployment) => boolean>> = {
  deployments: () => true,
  models: ({ kind }) => kind === 'model',
  applications: ({ kind }) => kind === 'application',
};

/** `/{prefix}/deployments|models|applications[/{id}]`, and `/v1/models[/{id}]` with its aliases: what the caller may use (docs/wire.md, Listings). */
export function listingRoutes(app: FastifyInstance, deps: ListingDeps): void {
  for (const prefix of deps.prefixes) {
    for (const [kind, isOfKind] of Object.entries(kinds)) list(app, deps, { base: `/${prefix}/${kind}`, isOfKind });
  }
  for (const base of deps.modelPaths) list(app, deps, { base, isOfKind: () => true });
}

/** Paths that calls are sent to, below the same prefix. */
const isCallPath = /\/(chat\/completions|embeddings)(\/[^/]*)?(\?|$)/;

interface Listing {
  readonly base: string;
  readonly isOfKind: (deployment: Deployment) => boolean;
}

function list(app: FastifyInstance, deps: ListingDeps, { base, isOfKind }: Listing): void {
  app.get(base, async (request) => {
    const caller = await deps.identify(readCredentials(request.raw));
    const usable = await listUsable({ catalog: deps.catalog, snapshot: deps.snapshot(), caller }, isOfKind);
    return { object: 'list', data: usable.map((deployment) => toListItem(deployment, deps.createdSeconds)) };
  });
  app.get(`${base}/*`, async (request, reply) => {
    if (isCallPath.test(request.url)) {
      reply.header('allow', 'POST');
      throw new ParleyError('method_not_allowed', 'This path takes POST, not GET.');
    }
    const caller = await deps.identify(readCredentials(request.raw));
    const id = toDeploymentId(pathBelow(`${base}/`, request.url));
    const lookup = { catalog: deps.catalog, snapshot: deps.snapshot(), caller };
    return toListItem(await findUsable(lookup, id, isOfKind), deps.createdSeconds);
  });
}
