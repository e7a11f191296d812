import type { FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors.ts';
import { type ApplicationPlace, toApplicationPlace } from '#domain/deployments/application-place.ts';

/** What of the path of a request stands below a base, still percent-encoded. */
export function below(base: string, { raw }: FastifyRequest): string {
  const [path = ''] = (raw.url ?? '').split('?', 1);
  return path.slice(base.length);
}

/** The application that a path names below a base. Throws `deployment_not_found` for what can be none. */
export function placeIn(base: string, request: FastifyRequest): ApplicationPlace {
  const place = toApplicationPlace(below(base, request));
  if (place === undefined) throw notFound();
  return place;
}

export function notFound(): ParleyError {
  return new ParleyError(
    'deployment_not_found',
    'There is no application of this path; GET /v1/applications/{bucket}/ lists yours.',
  );
}
