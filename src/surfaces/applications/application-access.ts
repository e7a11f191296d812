import type { FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { mayUse } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { type ApplicationLocation, parseApplicationLocation } from '#domain/deployments/application-location.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { toBucket } from '#domain/files/bucket.ts';
import { identifyUser } from '../http/read-request.ts';

/** Returns the caller. Throws `access_denied` for per-request keys: an application may not manage its user's applications. */
export function identifyBuilder(deps: { readonly identify: Identify }, request: FastifyRequest): Promise<Caller> {
  return identifyUser(deps, request, 'see or change applications');
}

/**
 * Returns the caller and the application that the path names below `base`. Throws `deployment_not_found`, or `access_denied` if
 * the caller is not the owner.
 */
export async function identifyOwner(
  deps: { readonly identify: Identify },
  base: string,
  request: FastifyRequest,
): Promise<{ readonly caller: Caller; readonly location: ApplicationLocation }> {
  const caller = await identifyBuilder(deps, request);
  const location = parseLocation(base, request);
  requireOwner(caller, location);
  return { caller, location };
}

export function isOwner({ subject }: Caller, { bucket }: Pick<ApplicationLocation, 'bucket'>): boolean {
  return toBucket(subject) === bucket;
}

/** Throws `access_denied` if the caller does not own the bucket. */
export function requireOwner(caller: Caller, location: Pick<ApplicationLocation, 'bucket'>): void {
  if (!isOwner(caller, location)) throw denied();
}

/**
 * Throws `access_denied` if the caller may not use the application, or if it does not exist, so that the error does not reveal
 * which applications exist.
 */
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
  return new ParleyError('access_denied', 'This bucket is not yours. GET /v1/bucket returns your bucket.');
}

/**
 * Returns the application that a path names below `base`. Throws `deployment_not_found` if the path cannot name an application.
 */
export function parseLocation(base: string, { url }: FastifyRequest): ApplicationLocation {
  const location = parseApplicationLocation(stripPathPrefix(base, url));
  if (location === undefined) throw notFound();
  return location;
}

export function notFound(): ParleyError {
  return new ParleyError(
    'deployment_not_found',
    'No application exists at this path. GET /v1/applications/{bucket}/ lists yours.',
  );
}

/** Returns the query parameters of a request. */
export function getQuery({ raw }: FastifyRequest): URLSearchParams {
  const [, query = ''] = (raw.url ?? '').split('?', 2);
  return new URLSearchParams(query);
}
