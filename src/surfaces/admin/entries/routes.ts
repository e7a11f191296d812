import type { FastifyInstance } from 'fastify';
import type { ConfiguredKeys } from '../user-routes.ts';
import { type ChangeDeps, changeRoutes } from './change-routes.ts';
import { addLastUses, deleteEntry, type EntryDeps, entryRoutes, hasEntry, listEntries } from './entry-routes.ts';
import { adminKeyRoutes } from './key-routes.ts';
import { type LimitRouteDeps, limitRoutes } from './limit-routes.ts';

/** Serves the configuration at run time, for the roles `admin` and `auditor`. */
export function adminEntryRoutes(app: FastifyInstance, deps: ChangeDeps & LimitRouteDeps): void {
  entryRoutes(app, deps);
  adminKeyRoutes(app, deps);
  changeRoutes(app, deps);
  limitRoutes(app, deps);
}

/** Returns the keys of the configuration, for the list and the deletion of all keys. */
export function createConfiguredKeys(deps: EntryDeps): ConfiguredKeys {
  return {
    async list({ after, limit }) {
      const listed = await listEntries(deps, 'keys');
      const page = listed.filter(({ id }) => id > after).slice(0, limit);
      return addLastUses(
        deps,
        page.map(({ toItem }) => toItem()),
      );
    },
    has: (id) => hasEntry(deps, { kind: 'keys', id }),
    delete: (request, reply) => deleteEntry(deps, 'keys', request, reply),
  };
}
