import { isStorableKey } from '#base/text/storable-key.ts';
import { isDeploymentId, toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { toUrl } from '../files/resource-location.ts';

/** Prefix of the ID of every application that was created through the API. */
export const applicationPrefix = 'applications/';

/** Location of an application that was created through the API: `applications/{bucket}/{path}` (docs/wire.md, Applications). */
export interface ApplicationLocation {
  /** Decoded ID. It is the key in the store for all spellings. */
  readonly id: string;
  readonly bucket: string;
  /** Percent-encoded ID as the client wrote it. Undefined if it equals `id`. */
  readonly spelling: string | undefined;
}

/** Parses `{bucket}/{path}` and percent-decodes it once. Returns undefined if no application can have this location. */
export function parseApplicationLocation(encoded: string): ApplicationLocation | undefined {
  const id = toDeploymentId(applicationPrefix + encoded);
  if (id === undefined || !isStorableKey(id)) return undefined;
  const [, bucket = '', ...path] = id.split('/');
  return path.length === 0 ? undefined : { id, bucket, spelling: toSpelling({ id, bucket }, encoded) };
}

/** Never encodes the bucket, so that the ID of an application identifies its owner. */
function toSpelling({ id, bucket }: Pick<ApplicationLocation, 'id' | 'bucket'>, encoded: string): string | undefined {
  const path = id.slice(applicationPrefix.length + bucket.length + 1);
  const spelling = encoded.startsWith(`${bucket}/`) ? applicationPrefix + encoded : toUrl({ kind: 'applications', bucket, path });
  return spelling !== id && isDeploymentId(spelling) && isStorableKey(spelling) ? spelling : undefined;
}

/** Returns the error for a path without an application. */
export function createApplicationNotFoundError(): ParleyError {
  const message = 'No application exists at this path. GET /v1/applications/{bucket}/ lists yours.';
  return new ParleyError('deployment_not_found', message);
}

/** Returns the decoded ID, the key of an application in the store. Clients may send it percent-encoded or decoded. */
export function toStoredId(id: string): string {
  return id.includes('%') ? (toDeploymentId(id) ?? id) : id;
}
