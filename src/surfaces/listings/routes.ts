import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors.ts';
import { mayUse, requireAccess } from '#domain/callers/access.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { readCredentials } from '../http/credentials.ts';
import { toListItem } from './list-item.ts';

export interface ListingDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  readonly identify: Identify;
  /** Prefixes that have the listings, such as `openai`. */
  readonly prefixes: readonly string[];
  /** Shown as the time a deployment of the configuration was made; seconds since the epoch. */
  readonly createdSeconds: number;
}

const kinds: Readonly<Record<string, (deployment: Deployment) => boolean>> = {
  deployments: () => true,
  models: ({ kind }) => kind === 'model',
  applications: ({ kind }) => kind === 'application',
};

/** `/{prefix}/deployments|models|applications[/{id}]` and `/v1/models[/{id}]`: what the caller may use (docs/wire.md, Listings). */
export function listingRoutes(app: FastifyInstance, tools: ListingDeps): void {
  for (const prefix of tools.prefixes) {
    for (const [kind, isOfKind] of Object.entries(kinds)) list(app, tools, { base: `/${prefix}/${kind}`, isOfKind });
  }
  list(app, tools, { base: '/v1/models', isOfKind: () => true });
}

/** Paths that calls are sent to, below the same prefix. */
const isCallPath = /\/(chat\/completions|embeddings)(\/[^/]*)?(\?|$)/;

interface Listing {
  readonly base: string;
  readonly isOfKind: (deployment: Deployment) => boolean;
}

function list(app: FastifyInstance, tools: ListingDeps, { base, isOfKind }: Listing): void {
  app.get(base, async (request) => {
    const caller = await tools.identify(readCredentials(request.raw));
    const snapshot = tools.snapshot();
    const usable = (await tools.catalog.list(snapshot, caller)).filter(
      (deployment) => isOfKind(deployment) && mayUse(snapshot, caller, deployment),
    );
    return { object: 'list', data: usable.map((deployment) => toListItem(deployment, tools.createdSeconds)) };
  });
  app.get(`${base}/*`, async (request, reply) => {
    if (isCallPath.test(request.url)) {
      reply.header('allow', 'POST');
      throw new ParleyError('method_not_allowed', 'This path takes POST, not GET.');
    }
    const caller = await tools.identify(readCredentials(request.raw));
    const id = idBelow(request, `${base}/`);
    const snapshot = tools.snapshot();
    const deployment = id === undefined ? undefined : await tools.catalog.find(snapshot, id);
    if (deployment === undefined || !isOfKind(deployment))
      throw new ParleyError('deployment_not_found', 'There is no deployment of this id.');
    requireAccess(snapshot, caller, deployment);
    return toListItem(deployment, tools.createdSeconds);
  });
}

function idBelow(request: FastifyRequest, base: string): string | undefined {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  return toDeploymentId(path.slice(base.length));
}
