import { describe, expect, test } from 'vitest';
import { errorMeanings } from '#contract/errors/error-meanings.ts';
import { type ErrorCode, errorKinds, ParleyError, toErrorBody, toParleyError } from '#contract/errors/errors.ts';

const table: Record<ErrorCode, readonly [status: number, type: string]> = {
  invalid_request: [400, 'invalid_request_error'],
  invalid_json: [400, 'invalid_request_error'],
  invalid_api_version: [400, 'invalid_request_error'],
  ambiguous_credentials: [400, 'invalid_request_error'],
  control_not_offered: [400, 'invalid_request_error'],
  call_depth_exceeded: [400, 'invalid_request_error'],
  unknown_addon: [400, 'invalid_request_error'],
  invalid_encrypted_content: [400, 'invalid_request_error'],
  previous_response_not_found: [400, 'invalid_request_error'],
  conversation_not_found: [400, 'invalid_request_error'],
  context_length_exceeded: [400, 'invalid_request_error'],
  operation_not_supported: [400, 'invalid_request_error'],
  missing_credentials: [401, 'authentication_error'],
  invalid_api_key: [401, 'authentication_error'],
  invalid_token: [401, 'authentication_error'],
  access_denied: [403, 'permission_error'],
  address_not_allowed: [403, 'permission_error'],
  user_blocked: [403, 'permission_error'],
  consent_required: [403, 'permission_error'],
  deployment_not_found: [404, 'not_found_error'],
  file_not_found: [404, 'not_found_error'],
  response_not_found: [404, 'not_found_error'],
  share_not_found: [404, 'not_found_error'],
  evaluation_not_found: [404, 'not_found_error'],
  key_not_found: [404, 'not_found_error'],
  call_not_found: [404, 'not_found_error'],
  entry_not_found: [404, 'not_found_error'],
  change_not_found: [404, 'not_found_error'],
  user_not_blocked: [404, 'not_found_error'],
  resource_not_found: [404, 'not_found_error'],
  route_not_found: [404, 'not_found_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  conversation_locked: [409, 'invalid_request_error'],
  consent_outdated: [409, 'invalid_request_error'],
  too_many_keys: [409, 'invalid_request_error'],
  configured_in_file: [409, 'invalid_request_error'],
  in_use: [409, 'invalid_request_error'],
  last_administrator: [409, 'invalid_request_error'],
  name_taken: [409, 'invalid_request_error'],
  administrator_exists: [409, 'invalid_request_error'],
  change_overwritten: [409, 'invalid_request_error'],
  key_revoked: [409, 'invalid_request_error'],
  precondition_failed: [412, 'invalid_request_error'],
  payload_too_large: [413, 'invalid_request_error'],
  unsupported_media_type: [415, 'invalid_request_error'],
  token_limit_exceeded: [429, 'rate_limit_error'],
  request_limit_exceeded: [429, 'rate_limit_error'],
  cost_limit_exceeded: [429, 'rate_limit_error'],
  parallel_limit_exceeded: [429, 'rate_limit_error'],
  upstream_rate_limited: [429, 'rate_limit_error'],
  too_many_chat_runs: [429, 'rate_limit_error'],
  internal_error: [500, 'server_error'],
  node_lost: [500, 'server_error'],
  upstream_failed: [500, 'upstream_error'],
  overloaded: [503, 'server_overloaded'],
  upstream_unavailable: [503, 'server_overloaded'],
  shutting_down: [503, 'server_overloaded'],
};

describe('the error table', () => {
  test('has the pinned status and type for each code', () => {
    expect(Object.fromEntries(Object.entries(errorKinds).map(([code, { status, type }]) => [code, [status, type]]))).toEqual(
      table,
    );
  });

  test.each(Object.entries(table) as [ErrorCode, (typeof table)[ErrorCode]][])(
    'serializes %s with status and type %j',
    (code, [status, type]) => {
      const error = new ParleyError(code, 'What happened.', { param: 'messages[0].content' });
      expect(error.status).toBe(status);
      expect(toErrorBody(error)).toStrictEqual({
        error: { type, message: 'What happened.', param: 'messages[0].content', code },
      });
    },
  );

  test('describes each code in sentences', () => {
    for (const meaning of Object.values(errorMeanings)) expect(meaning).toMatch(/^[A-Z`].*\.$/);
  });
});

describe('an error body', () => {
  test('has all four keys for an unknown error', () => {
    expect(toErrorBody(toParleyError(new Error('secret: sk-123')))).toStrictEqual({
      error: {
        type: 'server_error',
        message: 'The server had an error while processing the request.',
        param: null,
        code: 'internal_error',
      },
    });
  });

  test('contains the code and status of the upstream if they are known', () => {
    const error = new ParleyError('invalid_request', 'Too long.', { status: 413, upstreamCode: 'context_length_exceeded' });
    expect(error.status).toBe(413);
    expect(toErrorBody(error).error.code).toBe('context_length_exceeded');
    expect(toErrorBody(new ParleyError('invalid_request', 'x', { upstreamCode: null })).error.code).toBeNull();
  });
});
