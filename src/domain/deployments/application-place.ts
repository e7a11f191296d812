import { toDeploymentId } from '#contract/deployment-path.ts';
import { isStorableKey } from './storable-key.ts';

/** How the id of every application made through the API begins. */
export const madeByUsers = 'applications/';

/** Where an application made through the API is: `applications/{bucket}/{path}` (docs/wire.md, Applications). */
export interface ApplicationPlace {
  readonly id: string;
  readonly bucket: string;
}

/** The place that `{bucket}/{path}` means, percent-decoded once; undefined for what no application can have. */
export function toApplicationPlace(encoded: string): ApplicationPlace | undefined {
  const id = toDeploymentId(madeByUsers + encoded);
  if (id === undefined || !isStorableKey(id)) return undefined;
  const [, bucket = '', ...path] = id.split('/');
  return path.length === 0 ? undefined : { id, bucket };
}
