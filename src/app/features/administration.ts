import { adminOperations } from '#surfaces/admin/openapi.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import { adminUserOperations } from '#surfaces/admin/user-openapi.ts';
import { adminUserRoutes } from '#surfaces/admin/user-routes.ts';
import type { Feature } from '../service/feature.ts';

/** Usage, calls, audit log, state of the node, and the keys and blocks of users, for administrators. */
export const administration: Feature = {
  operations: () => [...adminOperations, ...adminUserOperations],
  add({ app, admin, keys, userKeys, blockedUsers, ...core }) {
    if (admin === undefined) return;
    adminRoutes(app, { ...core, ...admin });
    if (keys === undefined || userKeys === undefined || blockedUsers === undefined) return;
    adminUserRoutes(app, { ...core, store: keys.store, userKeys, blockedUserStore: keys.blockedUsers, blockedUsers });
  },
};
