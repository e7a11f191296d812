import { errorMeanings } from '#contract/errors/error-meanings.ts';
import { type ErrorCode, ParleyError } from '#contract/errors/errors.ts';
import type { ErrorDialect } from '../http/error-dialect.ts';
import { type ErrorShape, nameObject } from '../http/openapi/operation.ts';

export const scimPrefix = '/scim/v2';
export const scimMediaType = 'application/scim+json';
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Detail error keywords of RFC 7644, 3.12. */
type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'noTarget' | 'tooMany' | 'uniqueness';

/** Returns an error with a detail keyword of SCIM. */
export function scimError(scimType: ScimType, detail: string): ParleyError {
  return new ParleyError(scimType === 'uniqueness' ? 'name_taken' : 'invalid_request', detail, { members: { scimType } });
}

/** Errors in the form of RFC 7644, 3.12. */
export const scimErrorDialect: ErrorDialect = {
  acceptsXApiKey: false,
  idHeaders: ['x-request-id'],
  mediaType: scimMediaType,
  toErrorBody(error) {
    return { schemas: [errorSchema], status: String(error.status), ...error.members, detail: error.message };
  },
};

/** Error body of the SCIM operations in the API description. */
export const scimErrorShape: ErrorShape = {
  body: nameObject(
    'ScimError',
    {
      schemas: { type: 'array', items: { const: errorSchema } },
      status: { type: 'string' },
      scimType: { type: 'string' },
      detail: { type: 'string' },
    },
    ['scimType'],
  ),
  mediaType: scimMediaType,
  describe: (code: ErrorCode) => errorMeanings[code],
};
