import { consentOperations } from '#surfaces/consent/openapi.ts';
import { consentRoutes } from '#surfaces/consent/routes.ts';
import type { Feature } from '../service/feature.ts';

/** User consent to calls between deployments. */
export const consent: Feature = {
  operations: () => consentOperations,
  add({ app, consent: deps, ...core }) {
    consentRoutes(app, { ...core, ...deps });
  },
};
