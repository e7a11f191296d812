import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApplicationAccess } from '#contract/application-access.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { createCheck } from '#contract/schemas/compile-shape.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Person } from '#domain/callers/people-store.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { createPreconditionError } from '#domain/files/write-condition.ts';
import { toWriteCondition } from '../http/conditions.ts';
import { identifyUser, readRequest } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';
import {
  type ApplicationDeps,
  describeSharing,
  findApplication,
  findSharingIssues,
  identifyOwner,
} from './application-access.ts';
import { rejectIssues } from './read-application.ts';

type AccessDeps = Pick<ApplicationDeps, 'identify' | 'store' | 'people' | 'clock' | 'newId' | 'recordAudit'>;

const base = '/v1/access/applications/';
const checkAccess = createCheck(ApplicationAccess);
const maxSearchChars = 200;

/**
 * Serves `/v1/access/applications/{bucket}/{path}`, the users and roles that may use an application, and `/v1/people`, the search
 * for them (docs/quick-apps.md, Share an application). A change of the access does not change the settings of the application.
 */
export function accessRoutes(app: FastifyInstance, deps: AccessDeps): void {
  const url = `${base}*`;
  serveEarly(app, { method: 'GET', url }, (request, reply) => show(deps, request, reply));
  serveEarly(app, { method: 'PUT', url }, (request, reply) => replace(deps, request, reply));
  app.get('/v1/people', async (request) => {
    const caller = await identifyUser(deps, request, 'find people');
    const { search = '' } = request.query as { readonly search?: unknown };
    if (typeof search !== 'string' || search.length > maxSearchChars)
      throw createRequestError('search', `must be a single text of at most ${maxSearchChars} characters`);
    const { people, roles } = (await deps.people?.search(caller, search)) ?? { people: [], roles: [] };
    return { object: 'list', data: people.map(toItem), roles };
  });
}

async function show(deps: AccessDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { location } = await identifyOwner(deps, base, request);
  return answer(deps, await findApplication(deps, location), reply);
}

async function replace(deps: AccessDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { store, people, clock, newId, recordAudit } = deps;
  const { caller: owner, body } = await readRequest(request, storedEntries.applicationAccess, () =>
    identifyOwner(deps, base, request),
  );
  const { caller, location } = owner;
  const { roles, users } = checkAccess(body());
  const before = await findApplication(deps, location);
  toWriteCondition(request.headers, before);
  const sharing = { userRoles: [...new Set(roles)], users: [...new Set(users)] };
  const issues = await findSharingIssues(sharing, { stored: before.entry, people });
  // The roles are the field `roles` of this body, and `userRoles` of an entry.
  rejectIssues(issues.map((issue) => (issue.path[0] === 'userRoles' ? { ...issue, path: ['roles'] } : issue)));
  const details = describeSharing(before.entry, sharing);
  if (details === undefined) return answer(deps, before, reply);
  const next = { ...before, entry: { ...before.entry, ...sharing }, etag: newId(), updatedAtMs: clock.epochMs() };
  // The settings come from `before`, so a concurrent change must not be overwritten.
  const stored = await store.put(next, { etag: before.etag });
  if (stored === undefined) throw createPreconditionError();
  recordAudit({ action: 'application.shared', subject: caller.subject, object: location.id, requestId: request.id, details });
  return answer(deps, stored, reply);
}

async function answer({ people }: AccessDeps, { entry, etag }: StoredApplication, reply: FastifyReply): Promise<unknown> {
  const { userRoles: roles = [], users = [] } = entry;
  const peopleById = await people?.find(users);
  reply.header('etag', `"${etag}"`);
  return { etag, roles, users: users.map((id) => toItem(peopleById?.get(id) ?? { id, name: null, address: null })) };
}

function toItem({ id, name, address }: Person): Person {
  return { id, name, address };
}
