import { ErrorBody } from '#contract/errors/error-body.ts';
import { errorMeanings } from '#contract/errors/error-meanings.ts';
import type { ErrorCode } from '#contract/errors/errors.ts';
import { buildObject, type ErrorShape } from './operation.ts';

/** Error with the body `{"error": {"type", "message", "param", "code"}}`. */
export const compatErrorShape: ErrorShape = {
  body: { name: 'Error', schema: buildObject({ error: ErrorBody }) },
  describe: (code) => `\`${code}\`: ${errorMeanings[code]}`,
};

/**
 * Errors of operations that require a key. `overloaded` means that the store or the identity provider is unavailable.
 * `request_limit_exceeded` means that the address sent too many unknown tokens.
 */
export const keyErrors: readonly ErrorCode[] = [
  'ambiguous_credentials',
  'missing_credentials',
  'invalid_api_key',
  'invalid_token',
  'address_not_allowed',
  'user_blocked',
  'request_limit_exceeded',
  'overloaded',
  'shutting_down',
];

/** Additional errors of operations that a deployment answers. */
export const callErrors: readonly ErrorCode[] = [
  'operation_not_supported',
  'access_denied',
  'consent_required',
  'deployment_not_found',
  'payload_too_large',
  'unsupported_media_type',
  'upstream_rate_limited',
  'upstream_failed',
  'upstream_unavailable',
];

/** Additional errors of calls that count against limits. */
export const limitErrors: readonly ErrorCode[] = [
  'token_limit_exceeded',
  'request_limit_exceeded',
  'cost_limit_exceeded',
  'parallel_limit_exceeded',
];

/** Additional errors of operations that read a JSON body. */
export const bodyErrors: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
];

/** Errors of calls on paths with an API version. */
export const compatCallErrors: readonly ErrorCode[] = [
  ...keyErrors,
  ...bodyErrors,
  'invalid_api_version',
  'call_depth_exceeded',
  ...limitErrors,
  ...callErrors,
];
