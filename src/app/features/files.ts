import { randomUUID } from 'node:crypto';
import { ApplicationResources } from '#domain/deployments/application-resources.ts';
import { fileOperations } from '#surfaces/files/openapi.ts';
import { resourceOperations } from '#surfaces/files/resources/openapi.ts';
import { resourceRoutes } from '#surfaces/files/resources/routes.ts';
import { fileRoutes } from '#surfaces/files/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Files, and the other resources in the buckets of users. */
export const files: Feature = {
  operations: () => [...fileOperations, ...resourceOperations],
  add({ app, storedResources, savedApplications: store, ...core }) {
    if (storedResources === undefined) return;
    const applications = new ApplicationResources({ ...core, store, newId: randomUUID });
    fileRoutes(app, { ...core, files: storedResources });
    resourceRoutes(app, { ...core, contents: storedResources, applications });
  },
};
