import { featureOperations } from '#surfaces/features/openapi.ts';
import { featureRoutes } from '#surfaces/features/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Rating, tokenizing, and truncating, by Parley or by an endpoint of the deployment. */
export const deploymentFeatures: Feature = {
  operations: () => featureOperations,
  add({ deploymentActions, ...core }) {
    for (const [name, serve] of featureRoutes(core)) deploymentActions.set(name, serve);
  },
};
