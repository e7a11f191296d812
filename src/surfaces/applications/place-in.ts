import type { FastifyRequest } from 'fastify';
import { pathBelow } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type ApplicationPlace, toApplicationPlace } from '#domain/deployments/application-place.ts';

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
