import type { FastifyRequest } from 'fastify';
import { pathBelow } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { mayUse } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import { type ApplicationPlace, toApplicationPlace } from '#domain/deployments/application-place.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { bucketOf } from '#domain/files/bucket.ts';
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
): Promise<{ readonly caller: Caller; readonly place: ApplicationPlace }> {
  const caller = await identifyUser(deps, request);
  const place = placeIn(base, request);
  requireOwner(caller, place);
  return { caller, place };
}

export function isOwner({ subject }: Caller, { bucket }: Pick<ApplicationPlace, 'bucket'>): boolean {
  return bucketOf(subject) === bucket;
}

/** Throws `access_denied` where the bucket is somebody else's. */
export function requireOwner(caller: Caller, place: Pick<ApplicationPlace, 'bucket'>): void {
  if (!isOwner(caller, place)) throw denied();
}

/** Somebody else's application is open to the roles it names; whether it exists is told to nobody else. Throws `access_denied`. */
export async function requireOpen(
  { catalog, snapshot }: { readonly catalog: Catalog; readonly snapshot: () => ConfigSnapshot },
  caller: Caller,
  { id }: ApplicationPlace,
): Promise<void> {
  const now = snapshot();
  const found = await catalog.findStored(id);
  if (found === undefined || !mayUse(now, caller, found)) throw denied();
}

function denied(): ParleyError {
  return new ParleyError('access_denied', 'These applications are not yours; GET /v1/bucket names the bucket that is.');
}

/** The application that a path names below a base. Throws `deployment_not_found` for what can be none. */
export function placeIn(base: string, { url }: FastifyRequest): ApplicationPlace {
  const place = toApplicationPlace(pathBelow(base, url));
  if (place === undefined) throw notFound();
  return place;
}

export function notFound(): ParleyError {
  return new ParleyError(
    'deployment_not_found',
    'There is no application of this path; GET /v1/applications/{bucket}/ lists yours.',
  );
}
