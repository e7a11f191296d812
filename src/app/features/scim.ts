import { randomUUID } from 'node:crypto';
import { scimOperations } from '#surfaces/scim/openapi.ts';
import { scimRoutes } from '#surfaces/scim/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Users and groups that an identity provider provisions. */
export const scim: Feature = {
  operations: () => scimOperations,
  add({ app, keys, groupRoles, blockedUsers, ...core }) {
    if (keys?.scim !== undefined && groupRoles !== undefined && blockedUsers !== undefined)
      scimRoutes(app, { ...core, store: keys.scim, groupRoles, blockedUsers, newId: randomUUID });
  },
};
