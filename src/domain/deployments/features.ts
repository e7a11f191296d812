import type { Deployment } from './deployment.ts';

/** Features whose value is the address of an application endpoint. */
export const addressFeatures = ['configurationEndpoint', 'rateEndpoint', 'tokenizeEndpoint', 'truncatePromptEndpoint'] as const;
export type AddressFeature = (typeof addressFeatures)[number];

type WithFeatures = Pick<Deployment, 'features'>;

/** Returns the address of a feature, or undefined if no application serves the feature. */
export function findFeatureAddress({ features }: WithFeatures, name: AddressFeature): URL | undefined {
  const address = features[name];
  return typeof address === 'string' ? new URL(address) : undefined;
}

/** Returns the features without addresses, which only Parley may see. */
export function getPublicFeatures({ features }: WithFeatures): Readonly<Record<string, unknown>> {
  const names = Object.keys(features);
  if (!names.some(isAddress)) return features;
  return Object.fromEntries(names.filter((name) => !isAddress(name)).map((name) => [name, features[name]]));
}

function isAddress(name: string): boolean {
  return name.endsWith('Endpoint');
}
