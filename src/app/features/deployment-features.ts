import { featureOperations } from '#surfaces/features/openapi.ts';
import { RatingQuota } from '#surfaces/features/rating-quota.ts';
import { featureRoutes } from '#surfaces/features/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Rating, tokenizing, and truncating, by Parley or by an endpoint of the deployment. */
export const deploymentFeatures: Feature = {
  operations: () => featureOperations,
  add({ counters, clock, deploymentActions, ...core }) {
    const ratings = new RatingQuota(counters, clock);
    for (const [name, serve] of featureRoutes({ ...core, ratings })) deploymentActions.set(name, serve);
  },
};
