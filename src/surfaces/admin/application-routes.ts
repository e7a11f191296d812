import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import { type ApplicationStore, toPublicId } from '#domain/deployments/application-store.ts';
import type { People } from '#services/scim/people.ts';
import { readCursor, readLimit, readText, requireKnown, toPage } from './query.ts';
import { serveAdminRead } from './require-admin.ts';
import type { AdminDeps } from './routes.ts';

export interface AdminApplicationDeps extends Pick<AdminDeps, 'identify'> {
  readonly store: Pick<ApplicationStore, 'listShared'>;
  /** Undefined if the service does not store who has signed in. */
  readonly people: Pick<People, 'find'> | undefined;
}

/** Serves `/v1/admin/shared-applications`, the saved applications that other users may use. */
export function adminApplicationRoutes(app: FastifyInstance, deps: AdminApplicationDeps): void {
  serveAdminRead(app, deps, '/v1/admin/shared-applications', async (query) => {
    requireKnown(query, ['user', 'limit', 'token']);
    const limit = readLimit(query);
    const { id: after = '' } = readCursor(query) ?? {};
    const applications = await deps.store.listShared({ after, limit: limit + 1, user: readText(query, 'user') });
    const ids = applications.flatMap(({ owner, entry }) => [owner, ...(entry.users ?? [])]);
    const people = await deps.people?.find([...new Set(ids)]);
    const toPerson = (id: string): JsonObject => ({ id, name: people?.get(id)?.name ?? null });
    return toPage(applications, limit, {
      toCursor: ({ id }) => ({ atMs: 0, id }),
      toItem: ({ owner, entry, updatedAtMs: updatedAt, ...application }) => {
        const { displayName = null, userRoles: roles = [], users = [] } = entry;
        return { id: toPublicId(application), displayName, owner: toPerson(owner), roles, users: users.map(toPerson), updatedAt };
      },
    });
  });
}
