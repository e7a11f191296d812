import type { FastifyRequest } from 'fastify';
import { pathBelow } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { mayUse } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import { type ApplicationLocation, parseApplicationLocation } from '#domain/deployments/application-location.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { toBucket } from '#domain/files/bucket.ts';
import { readCredentials } from '../http/read-request.ts';

/** The one whose applications these are; no application stands in for its user. */
export async function identifyUser({ identify }: { identify: Identify }, { raw }: FastifyRequest): Promise<Caller> {
  const caller = await identify(readCredentials(raw), raw);
  requireOwn(caller, 'see or change applications');
  return caller;
}

/** The caller, and the application of its own that a path names below a base. Throws `deployment_not_found`, `access_denied`. */
export async function openOwn(
  deps: { readonly identify: Identify },
  base: string,
  request: FastifyRequest,
): Promise<{ readonly caller: Caller; readonly location: ApplicationLocation }> {
  const caller = await identifyUser(deps, request);
  const location = placeIn(base, request);
  requireOwner(caller, location);
  return { caller, location };
}

export function isOwner({ subject }: Caller, { bucket }: Pick<ApplicationLocation, 'bucket'>): boolean {
  return toBucket(subject) === bucket;
}

/** Throws `access_denied` where the bucket is somebody else's. */
export function requireOwner(caller: Caller, location: Pick<ApplicationLocation, 'bucket'>): void {
  if (!isOwner(caller, location)) throw denied();
}

/** Somebody else's application is open to the roles it names; whether it exists is told to nobody else. Throws `access_denied`. */
export async function requireOpen(
  { catalog, snapshot }: { readonly catalog: Catalog; readonly snapshot: () => ConfigSnapshot },
  caller: Caller,
  { id }: ApplicationLocation,
): Promise<void> {
  const now = snapshot();
  const stored = await catalog.findStored(id);
  if (stored === undefined || !mayUse(now, caller, stored)) throw denied();
}

function denied(): ParleyError {
  return new ParleyError('access_denied', 'These applications are not yours; GET /v1/bucket names the bucket that is.');
}

/** The application that a path names below a base. Throws `deployment_not_found` for what can be none. */
export function placeIn(base: string, { url }: FastifyRequest): ApplicationLocation {
  const location = parseApplicationLocation(pathBelow(base, url));
  if (location === undefined) throw notFound();
  return location;
}

export function notFound(): ParleyError {
  return new ParleyError(
    'deployment_not_found',
    'There is no application of this path; GET /v1/applications/{bucket}/ lists yours.',
  );
}
