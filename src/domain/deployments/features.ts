import type { Deployment } from './deployment.ts';

/** The features that name where a program serves them. */
export const addressFeatures = ['configurationEndpoint', 'rateEndpoint', 'tokenizeEndpoint', 'truncatePromptEndpoint'] as const;
export type AddressFeature = (typeof addressFeatures)[number];

type WithFeatures = Pick<Deployment, 'features'>;

/** Where a feature of the deployment is served; undefined if the deployment has no program for it. */
export function findFeatureAddress({ features }: WithFeatures, name: AddressFeature): URL | undefined {
  const address = features[name];
  return typeof address === 'string' ? new URL(address) : undefined;
}

/** The features as everybody may see them: no address. */
export function getPublicFeatures({ features }: WithFeatures): Readonly<Record<string, unknown>> {
  const names = Object.keys(features);
  if (!names.some(isAddress)) return features;
  return Object.fromEntries(names.filter((name) => !isAddress(name)).map((name) => [name, features[name]]));
}

function isAddress(name: string): boolean {
  return name.endsWith('Endpoint');
}
