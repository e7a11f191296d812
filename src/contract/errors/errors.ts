import type { ErrorBody } from './error-body.ts';
import type { ContextOverflow } from './error-conditions.ts';

interface ErrorKind {
  readonly status: number;
  readonly type: string;
}

/**
 * All error codes of Parley. `error-meanings.ts` explains them. The code of an upstream can replace them (docs/wire.md, Errors).
 */
export const errorKinds = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  invalid_json: { status: 400, type: 'invalid_request_error' },
  invalid_api_version: { status: 400, type: 'invalid_request_error' },
  ambiguous_credentials: { status: 400, type: 'invalid_request_error' },
  control_not_offered: { status: 400, type: 'invalid_request_error' },
  call_depth_exceeded: { status: 400, type: 'invalid_request_error' },
  unknown_addon: { status: 400, type: 'invalid_request_error' },
  invalid_encrypted_content: { status: 400, type: 'invalid_request_error' },
  previous_response_not_found: { status: 400, type: 'invalid_request_error' },
  conversation_not_found: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  operation_not_supported: { status: 400, type: 'invalid_request_error' },
  missing_credentials: { status: 401, type: 'authentication_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  invalid_token: { status: 401, type: 'authentication_error' },
  access_denied: { status: 403, type: 'permission_error' },
  address_not_allowed: { status: 403, type: 'permission_error' },
  user_blocked: { status: 403, type: 'permission_error' },
  consent_required: { status: 403, type: 'permission_error' },
  deployment_not_found: { status: 404, type: 'not_found_error' },
  file_not_found: { status: 404, type: 'not_found_error' },
  response_not_found: { status: 404, type: 'not_found_error' },
  share_not_found: { status: 404, type: 'not_found_error' },
  evaluation_not_found: { status: 404, type: 'not_found_error' },
  key_not_found: { status: 404, type: 'not_found_error' },
  entry_not_found: { status: 404, type: 'not_found_error' },
  call_not_found: { status: 404, type: 'not_found_error' },
  change_not_found: { status: 404, type: 'not_found_error' },
  user_not_blocked: { status: 404, type: 'not_found_error' },
  resource_not_found: { status: 404, type: 'not_found_error' },
  route_not_found: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  conversation_locked: { status: 409, type: 'invalid_request_error' },
  consent_outdated: { status: 409, type: 'invalid_request_error' },
  too_many_keys: { status: 409, type: 'invalid_request_error' },
  configured_in_file: { status: 409, type: 'invalid_request_error' },
  in_use: { status: 409, type: 'invalid_request_error' },
  last_administrator: { status: 409, type: 'invalid_request_error' },
  name_taken: { status: 409, type: 'invalid_request_error' },
  administrator_exists: { status: 409, type: 'invalid_request_error' },
  change_overwritten: { status: 409, type: 'invalid_request_error' },
  key_revoked: { status: 409, type: 'invalid_request_error' },
  precondition_failed: { status: 412, type: 'invalid_request_error' },
  payload_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  token_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  request_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  cost_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  parallel_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  too_many_chat_runs: { status: 429, type: 'rate_limit_error' },
  upstream_rate_limited: { status: 429, type: 'rate_limit_error' },
  internal_error: { status: 500, type: 'server_error' },
  node_lost: { status: 500, type: 'server_error' },
  upstream_failed: { status: 500, type: 'upstream_error' },
  overloaded: { status: 503, type: 'server_overloaded' },
  upstream_unavailable: { status: 503, type: 'server_overloaded' },
  shutting_down: { status: 503, type: 'server_overloaded' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** HTTP statuses that replace 400 for some cases of `invalid_request`. */
export type HttpRejection = 408 | 416 | 417 | 426 | 431;

export interface ErrorDetails {
  /** JSON path of the invalid field. */
  readonly param?: string | null;
  /** Whole seconds after which the client can retry. */
  readonly retryAfterSeconds?: number;
  /** Additional header fields of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Underlying error, for the log. Clients never receive it. */
  readonly cause?: unknown;
  /** Status, type, and code of an upstream. They replace those of Parley. */
  readonly status?: number;
  readonly upstreamType?: string | null;
  readonly upstreamCode?: string | null;
  /** Error message of an upstream for users. */
  readonly displayMessage?: string | null;
  /** Additional members of the error body, such as `usedBy`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Token counts of an input that is longer than the model accepts. Each surface reports them in the form of its clients. */
  readonly overflow?: ContextOverflow | undefined;
  /** Whether the client caused a status of 500 and above, so that the error is not logged. */
  readonly isClientCaused?: boolean;
}

/** An error whose message can be sent to the client. Any other thrown value becomes an `internal_error`. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  /** Code that the client receives: `code`, or the code of the upstream. */
  readonly publicCode: string | null;
  readonly displayMessage: string | null;
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly overflow: ContextOverflow | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly isClientCaused: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'ParleyError';
    this.code = code;
    this.status = details.status ?? errorKinds[code].status;
    this.type = details.upstreamType ?? errorKinds[code].type;
    this.param = details.param ?? null;
    this.publicCode = details.upstreamCode === undefined ? code : details.upstreamCode;
    this.displayMessage = details.displayMessage ?? null;
    this.members = details.members;
    this.overflow = details.overflow;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.headers = details.headers;
    this.isClientCaused = details.isClientCaused ?? false;
  }
}

/** Returns a copy of the error with additional members. */
export function withMembers(error: ParleyError, members: Readonly<Record<string, unknown>>): ParleyError {
  const { code, message, type, publicCode, retryAfterSeconds, headers } = error;
  const { status, param, displayMessage, overflow, isClientCaused } = error;
  return new ParleyError(code, message, {
    ...{ cause: error, status, upstreamType: type, upstreamCode: publicCode, param, displayMessage, overflow, isClientCaused },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(headers !== undefined && { headers }),
    members: { ...error.members, ...members },
  });
}

/** Returns an `invalid_request` with a more specific HTTP status. */
export function createHttpRejection(status: HttpRejection, message: string, details: ErrorDetails = {}): ParleyError {
  return new ParleyError('invalid_request', message, { ...details, status });
}

/** Returns the error for a client. Details of values that are not `ParleyError` stay hidden. */
export function toParleyError(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError('internal_error', 'The server had an error while processing the request.', { cause: error });
}

/** Returns `{"error": …}` for the chat completions API. */
export function toErrorBody(error: ParleyError): { error: ErrorBody } {
  const { type, message, param, publicCode: code, displayMessage, members } = error;
  return {
    error: { type, message, param, code, ...(displayMessage !== null && { display_message: displayMessage }), ...members },
  };
}
