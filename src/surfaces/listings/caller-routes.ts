import type { FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors.ts';
import { requireAccess } from '#domain/access.ts';
import type { Directory } from '#domain/directory.ts';
import type { Identify } from '#domain/identify.ts';
import { type LimitCounters, toAccount } from '#domain/limit-counters.ts';
import { readCredentials } from '../http/credentials.ts';
import { toLimitStats } from './limit-stats.ts';

export interface CallerTools {
  readonly directory: () => Directory;
  readonly identify: Identify;
  readonly counters: LimitCounters;
  readonly clock: Clock;
}

const deploymentsBase = '/v1/deployments/';
const limitsSuffix = '/limits';

/** `/v1/user/info` and `/v1/deployments/{id}/limits`: what a caller is, and what is left to it (contract 3). */
export function callerRoutes(app: FastifyInstance, { directory, identify, counters, clock }: CallerTools): void {
  app.get('/v1/user/info', async (request) => {
    const { subject, project, roles } = await identify(readCredentials(request.headers));
    return { user: subject, project, roles };
  });
  app.get(`${deploymentsBase}*`, async (request) => {
    const caller = await identify(readCredentials(request.headers));
    const [path = ''] = (request.raw.url ?? '').split('?', 1);
    if (!path.endsWith(limitsSuffix))
      throw new ParleyError('route_not_found', 'Nothing is served at this path; /docs lists what is.');
    const id = toDeploymentId(path.slice(deploymentsBase.length, -limitsSuffix.length));
    const now = directory();
    const deployment = id === undefined ? undefined : now.deployments.get(id);
    if (deployment === undefined) throw new ParleyError('deployment_not_found', 'There is no deployment of this id.');
    requireAccess(now, caller, deployment);
    const limits = now.limits.of(caller.roles, deployment.id);
    const standings = await counters.read(toAccount(caller.subject, deployment.id, limits));
    return toLimitStats(standings, clock.epochMs());
  });
}
