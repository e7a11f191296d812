import { randomUUID } from 'node:crypto';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { keyOperations } from '#surfaces/user-keys/openapi.ts';
import { keyRoutes } from '#surfaces/user-keys/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Keys that users create for themselves. */
export const userKeys: Feature = {
  operations: () => keyOperations,
  add({ app, keys, userKeys, ...core }) {
    if (keys !== undefined && userKeys !== undefined)
      keyRoutes(app, { ...core, ...keys, userKeys, newId: randomUUID, newSecret: createRandomSecret });
  },
};
