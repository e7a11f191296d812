import type { FastifyInstance } from 'fastify';
import { PublicationListRequest, parserOf, ShareListRequest } from '#contract/resource-requests.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import { serveEarly } from '../../http/serve-early.ts';
import { readOperation } from './read-operation.ts';
import type { ResourceDeps } from './resource-deps.ts';

type Deps = Pick<ResourceDeps, 'identify' | 'snapshot'>;

const parseShares = parserOf(ShareListRequest);
const parsePublications = parserOf(PublicationListRequest);

/** `POST /v1/ops/resource/share/list` and `/v1/ops/publication/list`: what others shared and published, which is nothing: users share nothing here. */
export function sharedRoutes(app: FastifyInstance, deps: Deps): void {
  serveEarly(app, { method: 'POST', url: '/v1/ops/resource/share/list' }, async (request) => {
    const { caller, body } = await readOperation(deps, request, parseShares);
    requireOwn(caller, 'see what is shared');
    body();
    return { resources: [] };
  });
  serveEarly(app, { method: 'POST', url: '/v1/ops/publication/list' }, async (request) => {
    const { caller, body } = await readOperation(deps, request, parsePublications);
    requireOwn(caller, 'see what is published');
    body();
    return { publications: [] };
  });
}
