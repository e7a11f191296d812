import { adminOperations } from '#surfaces/admin/operations.ts';
import { adminRoutes } from '#surfaces/admin/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Usage, calls, audit log, and state of the node, for administrators. */
export const administration: Feature = {
  operations: () => adminOperations,
  add({ app, admin, ...core }) {
    if (admin !== undefined) adminRoutes(app, { ...core, ...admin });
  },
};
