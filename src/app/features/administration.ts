import { randomUUID } from 'node:crypto';
import { adminApplicationRoutes } from '#surfaces/admin/application-routes.ts';
import { adminEntryOperations } from '#surfaces/admin/entries/openapi.ts';
import { adminEntryRoutes, createConfiguredKeys } from '#surfaces/admin/entries/routes.ts';
import { adminOperations } from '#surfaces/admin/openapi.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import { adminUserOperations } from '#surfaces/admin/user-openapi.ts';
import { adminUserRoutes } from '#surfaces/admin/user-routes.ts';
import type { Feature } from '../service/feature.ts';
import { newSecret } from '../service/new-secret.ts';

/** Usage, calls, audit log, state of the node, keys and blocks of users, and the configuration at run time, for administrators. */
export const administration: Feature = {
  operations: () => [...adminOperations, ...adminUserOperations, ...adminEntryOperations],
  add({ app, admin, entries, keys, userKeys, blockedUsers, ...core }) {
    if (admin === undefined) return;
    adminRoutes(app, { ...core, ...admin });
    adminApplicationRoutes(app, { ...core, store: core.savedApplications });
    const entryDeps = entries && { ...core, ...admin, ...entries, newId: randomUUID, newSecret };
    if (entryDeps !== undefined) adminEntryRoutes(app, entryDeps);
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
