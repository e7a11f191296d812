import { ParleyError } from '#contract/errors/errors.ts';
import { type ContentKind, maxNamedPathBytes, type ResourceKind } from '#domain/files/resource-place.ts';
import { resourceNotFound } from '#services/files/stored-resources.ts';

/** The 404 of a kind. */
export function notFound(kind: ResourceKind): ParleyError {
  if (kind !== 'applications') return resourceNotFound({ kind });
  return new ParleyError(
    'deployment_not_found',
    'There is no application of this path; GET /v1/applications/{bucket}/ lists yours.',
  );
}

/** The 404 of a path that nothing of the kind can have, as one needs it who would write there. */
export function noPlace(kind: ContentKind): ParleyError {
  const what = kind.slice(0, -1);
  return new ParleyError(
    'file_not_found',
    `No ${what} can have this path: it is {bucket}/{path} and names a ${what}, not a folder; none of its segments is empty, "." or "..", none has control characters, and all of it is percent-encoded UTF-8.`,
  );
}

export function pathTooLong(): ParleyError {
  return new ParleyError('invalid_request', `The path is longer than ${maxNamedPathBytes} bytes of UTF-8.`, { param: 'path' });
}
