import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';
import { adminRole, auditorRole } from '#contract/roles.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Query } from '../http/query.ts';
import { identifyUser, type SurfaceDeps } from '../http/read-request.ts';

type IdentifyDeps = Pick<SurfaceDeps, 'identify'>;

/**
 * Returns the caller of a route for the role `admin`. A route that only reads also accepts the role `auditor`. Throws
 * `access_denied` for other callers, and for per-request keys.
 */
export async function requireAdmin(
  deps: IdentifyDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  use: 'reads' | 'changes',
): Promise<Caller> {
  const caller = await identifyUncached(deps, request, reply, 'administer');
  if (canAdminister(caller, use)) return caller;
  throw createRoleError(use === 'reads' ? `the role ${adminRole} or ${auditorRole}` : `the role ${adminRole}`);
}

interface AdminRead {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

/** Serves a GET route for the roles `admin` and `auditor`. */
export function serveAdminRead(
  app: FastifyInstance,
  deps: IdentifyDeps,
  url: string,
  answer: (query: Query, read: AdminRead) => unknown,
): void {
  app.get(url, async (request, reply) => {
    const caller = await requireAdmin(deps, request, reply, 'reads');
    return answer(request.query as Query, { request, reply, caller });
  });
}

function canAdminister({ roles }: Caller, use: 'reads' | 'changes'): boolean {
  return roles.includes(adminRole) || (use === 'reads' && roles.includes(auditorRole));
}

function createRoleError(requirement: string): ParleyError {
  return new ParleyError('access_denied', `This requires ${requirement}. Your key or token does not meet this requirement.`);
}

/** Like `requireAdmin` for reads. Also accepts the owners of `project`. */
export async function requireUsageReader(
  deps: Pick<SurfaceDeps, 'identify' | 'snapshot'>,
  request: FastifyRequest,
  reply: FastifyReply,
  project: string | undefined,
): Promise<Caller> {
  const caller = await identifyUncached(deps, request, reply, 'read the usage of a project');
  const isOwner = project !== undefined && ownsProject(deps.snapshot(), caller, project);
  if (isOwner || canAdminister(caller, 'reads')) return caller;
  throw createRoleError(`the role ${adminRole} or ${auditorRole}, or ownership of the project`);
}

/**
 * Returns an administrator, or the owner of a project. An owner must sign in, and cannot use a key that a user created. Throws
 * `access_denied` for other callers and for per-request keys.
 */
export async function requireKeyCreator(
  deps: Pick<SurfaceDeps, 'identify' | 'snapshot'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ readonly caller: Caller; readonly isAdmin: boolean }> {
  const caller = await identifyUncached(deps, request, reply, 'create keys');
  if (canAdminister(caller, 'changes')) return { caller, isAdmin: true };
  const snapshot = deps.snapshot();
  const ownedProject = Object.keys(snapshot.configuration.projects).find((name) => ownsProject(snapshot, caller, name));
  if (ownedProject !== undefined && caller.userKey === undefined) return { caller, isAdmin: false };
  throw createRoleError(`the role ${adminRole}, or a sign-in as an owner of a project`);
}

/** Returns whether the configuration lists a user as an owner of a project. */
export function ownsProject({ configuration: { projects } }: ConfigSnapshot, { subject }: Caller, project: string): boolean {
  return Object.hasOwn(projects, project) && projects[project]?.owners?.includes(subject) === true;
}

/** Returns the user of a request, and disables caching of the response. Throws `access_denied` for per-request keys. */
export async function identifyUncached(
  deps: IdentifyDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  action: string,
): Promise<Caller> {
  reply.header('cache-control', 'no-store');
  return identifyUser(deps, request, action);
}
