import { ParleyError } from '#contract/errors.ts';
import { maxNamedPathBytes, type ResourceKind } from '#domain/files/resource-place.ts';
import { resourceNotFound } from '#domain/files/stored-resources.ts';

/** The 404 of a kind. */
export function notFound(kind: ResourceKind): ParleyError {
  if (kind !== 'applications') return resourceNotFound({ kind });
  return new ParleyError(
    'deployment_not_found',
    'There is no application of this path; GET /v1/applications/{bucket}/ lists yours.',
  );
}

export function pathTooLong(): ParleyError {
  return new ParleyError('invalid_request', `The path is longer than ${maxNamedPathBytes} bytes of UTF-8.`, { param: 'path' });
}
