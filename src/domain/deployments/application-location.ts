import { isDeploymentId, toDeploymentId } from '#contract/deployment-path.ts';
import { toUrl } from '../files/resource-location.ts';
import { isStorableKey } from './storable-key.ts';

/** How the id of every application made through the API begins. */
export const applicationPrefix = 'applications/';

/** Where an application made through the API is: `applications/{bucket}/{path}` (docs/wire.md, Applications). */
export interface ApplicationLocation {
  /** Decoded: what it is kept under, however it is spelled. */
  readonly id: string;
  readonly bucket: string;
  /** The id as it was written, percent-encoded; undefined where that is `id`. */
  readonly spelling: string | undefined;
}

/** The place that `{bucket}/{path}` means, percent-decoded once; undefined for what no application can have. */
export function parseApplicationLocation(encoded: string): ApplicationLocation | undefined {
  const id = toDeploymentId(applicationPrefix + encoded);
  if (id === undefined || !isStorableKey(id)) return undefined;
  const [, bucket = '', ...path] = id.split('/');
  return path.length === 0 ? undefined : { id, bucket, spelling: toSpelling({ id, bucket }, encoded) };
}

/** The bucket is never encoded in it: whose an application is can be read off its id. */
function toSpelling({ id, bucket }: Pick<ApplicationLocation, 'id' | 'bucket'>, encoded: string): string | undefined {
  const path = id.slice(applicationPrefix.length + bucket.length + 1);
  const spelling = encoded.startsWith(`${bucket}/`) ? applicationPrefix + encoded : toUrl({ kind: 'applications', bucket, path });
  return spelling !== id && isDeploymentId(spelling) && isStorableKey(spelling) ? spelling : undefined;
}

/** What the id of an application is kept under: it may be asked for as it is spelled, or decoded. */
export function toStoredId(id: string): string {
  return id.includes('%') ? (toDeploymentId(id) ?? id) : id;
}
