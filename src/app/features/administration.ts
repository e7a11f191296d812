import { randomUUID } from 'node:crypto';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { changeRoutes } from '#surfaces/admin/entries/change-routes.ts';
import { entryRoutes } from '#surfaces/admin/entries/entry-routes.ts';
import { adminKeyRoutes, createConfiguredKeys } from '#surfaces/admin/entries/key-routes.ts';
import { limitRoutes } from '#surfaces/admin/entries/limit-routes.ts';
import { adminEntryOperations } from '#surfaces/admin/entries/openapi.ts';
import { adminOperations } from '#surfaces/admin/openapi.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import { adminUserOperations } from '#surfaces/admin/user-openapi.ts';
import { adminApplicationRoutes, adminUserRoutes } from '#surfaces/admin/user-routes.ts';
import type { Feature } from '../service/feature.ts';

/** Usage, calls, audit log, state of the node, keys and blocks of users, and the configuration at run time, for administrators. */
export const administration: Feature = {
  operations: () => [...adminOperations, ...adminUserOperations, ...adminEntryOperations],
  add({ app, admin, entries, keys, userKeys, blockedUsers, ...core }) {
    if (admin === undefined) return;
    adminRoutes(app, { ...core, ...admin });
    adminApplicationRoutes(app, { ...core, store: core.savedApplications });
    const entryDeps = entries && { ...core, ...admin, ...entries, newId: randomUUID, newSecret: createRandomSecret };
    if (entryDeps !== undefined)
      for (const routes of [entryRoutes, adminKeyRoutes, changeRoutes, limitRoutes]) routes(app, entryDeps);
    if (keys === undefined || userKeys === undefined || blockedUsers === undefined) return;
    adminUserRoutes(app, {
      ...core,
      store: keys.store,
      userKeys,
      blockedUserStore: keys.blockedUsers,
      blockedUsers,
      configuredKeys: entryDeps && createConfiguredKeys(entryDeps),
    });
  },
};
