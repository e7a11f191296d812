import { type Static, Type } from 'typebox';

/** What a caller is told of a failure: `{"error": ErrorBody}` (docs/wire.md, Errors). All four keys are always there. */
export const ErrorBody = Type.Object({
  type: Type.String({ description: 'The family of the error.' }),
  message: Type.String({ description: 'One sentence that names the thing and, where there is one, the way out.' }),
  param: Type.Union([Type.String(), Type.Null()], {
    description: 'JSON path of the field at fault, such as messages[2].content.',
  }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'A stable word for programs.' }),
  display_message: Type.Optional(
    Type.String({ description: 'What an application or an upstream would have people shown in place of `message`.' }),
  ),
  deployment: Type.Optional(
    Type.String({ description: 'With `consent_required` and `consent_outdated`: the deployment whose form it is.' }),
  ),
  consent: Type.Optional(
    Type.Unsafe<Readonly<Record<string, { consentRequired: boolean }>>>({
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['consentRequired'],
        properties: { consentRequired: { type: 'boolean' } },
      },
      description: 'With the same: the form of today, if the caller is the user itself.',
    }),
  ),
});
export type ErrorBody = Static<typeof ErrorBody>;

interface ErrorKind {
  readonly status: number;
  readonly type: string;
  /** When it happens and what helps, for docs/errors.md. */
  readonly says: string;
}

/** Every code that Parley itself gives; docs/errors.md is generated from it. An upstream's own code may take its place (docs/wire.md, Errors). */
export const errorKinds = {
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    says: 'A field of the request is missing, of the wrong type or out of bounds; `param` names it.',
  },
  invalid_json: { status: 400, type: 'invalid_request_error', says: 'The body is not JSON text, or is nested too deeply.' },
  invalid_api_version: {
    status: 400,
    type: 'invalid_request_error',
    says: 'The API version of the path is no calendar date `YYYY-MM-DD`, optionally with `-preview`, or that of the query has something else in it than letters, digits, `.`, `-` and `_`.',
  },
  ambiguous_credentials: {
    status: 400,
    type: 'invalid_request_error',
    says: '`Api-Key` and `Authorization` carry different credentials, or one of them comes twice and differs; send one, once.',
  },
  control_not_offered: {
    status: 400,
    type: 'invalid_request_error',
    says: 'The completed control was not offered by the last reply, or its value does not follow the schema of that control.',
  },
  call_depth_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    says: 'The chain of applications calling each other is too deep, or comes back to one deployment too often.',
  },
  unknown_addon: {
    status: 400,
    type: 'invalid_request_error',
    says: 'The addon is not configured; names are listed under `addons` of the configuration.',
  },
  invalid_encrypted_content: {
    status: 400,
    type: 'invalid_request_error',
    says: 'What was sealed for the next turn was changed, was given to another user, or comes from another kind of model.',
  },
  previous_response_not_found: {
    status: 400,
    type: 'invalid_request_error',
    says: '`previous_response_id` names a response that is not stored, is deleted, or is of another user.',
  },
  conversation_not_found: {
    status: 400,
    type: 'invalid_request_error',
    says: '`conversation` names a conversation that is not stored, is deleted, or is of another user.',
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    says: 'The input is longer than the model takes; `truncation: "auto"` drops the oldest of it.',
  },
  operation_not_supported: {
    status: 400,
    type: 'invalid_request_error',
    says: 'The deployment exists but cannot do this, such as embeddings of a chat model.',
  },
  missing_credentials: {
    status: 401,
    type: 'authentication_error',
    says: 'Neither `Api-Key` nor `Authorization: Bearer` was sent.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    says: 'The key is not known, or the call it was made for has ended.',
  },
  invalid_token: {
    status: 401,
    type: 'authentication_error',
    says: 'The bearer token is malformed, expired, or not of a configured identity provider.',
  },
  access_denied: {
    status: 403,
    type: 'permission_error',
    says: 'The deployment or resource exists, but not for the roles of this caller.',
  },
  consent_required: {
    status: 403,
    type: 'permission_error',
    says: 'The user has not accepted the consent form of the application that started the chain; the message names it.',
  },
  deployment_not_found: {
    status: 404,
    type: 'not_found_error',
    says: 'No deployment has this id. Where `model` of the body names it the code is `model_not_found`, on paths of the Azure form `DeploymentNotFound`.',
  },
  file_not_found: { status: 404, type: 'not_found_error', says: 'No stored file, prompt, conversation or folder has this path.' },
  response_not_found: {
    status: 404,
    type: 'not_found_error',
    says: 'No stored response, conversation or item of the caller has this id.',
  },
  share_not_found: {
    status: 404,
    type: 'not_found_error',
    says: 'Nothing is shared by this link: it was revoked, has expired, or what it showed was deleted.',
  },
  evaluation_not_found: { status: 404, type: 'not_found_error', says: 'No case or evaluation of the caller has this id.' },
  route_not_found: { status: 404, type: 'not_found_error', says: 'Nothing is served at this path; /docs lists what is.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    says: 'The path exists with other methods; `Allow` lists them.',
  },
  conversation_locked: {
    status: 409,
    type: 'invalid_request_error',
    says: 'Another response is being answered on the conversation; try again when it has ended.',
  },
  consent_outdated: { status: 409, type: 'invalid_request_error', says: 'The form sent is not the form of today; get it anew.' },
  precondition_failed: {
    status: 412,
    type: 'invalid_request_error',
    says: 'The resource was changed in the meantime, or exists already.',
  },
  payload_too_large: {
    status: 413,
    type: 'invalid_request_error',
    says: 'The body is larger than `security.maxBodyBytes`, or a file than a file or bucket may be.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    says: 'The body must be sent as `Content-Type: application/json`, without a content encoding.',
  },
  token_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    says: 'The tokens of a window are used up; the message says which and when it resets.',
  },
  request_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    says: 'The requests of a window are used up; the message says which and when it resets.',
  },
  cost_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    says: 'The money of a window is used up; the message says which and when it resets.',
  },
  upstream_rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    says: 'Every upstream of the deployment refuses for its own rate limit.',
  },
  internal_error: { status: 500, type: 'server_error', says: 'A fault of Parley itself; the log has it under the request id.' },
  upstream_failed: {
    status: 500,
    type: 'upstream_error',
    says: 'The upstream failed, refused the configured credentials, or broke off its answer.',
  },
  overloaded: {
    status: 503,
    type: 'server_overloaded',
    says: 'Too much is under way, or something the answer needs cannot be used: a store, an identity provider; try again later.',
  },
  upstream_unavailable: {
    status: 503,
    type: 'server_overloaded',
    says: 'No upstream of the deployment can be reached; try again later.',
  },
  shutting_down: { status: 503, type: 'server_overloaded', says: 'This node is stopping; try again, another one will answer.' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** When `invalid_request` has another status than its own, since HTTP has one for it; for docs/errors.md too. */
export const httpRefusals = {
  408: 'The head of the request, or what is left of its body, does not come in time.',
  416: 'The range that is asked for lies behind the end of the file.',
  417: '`Expect` names something other than `100-continue`.',
  426: 'A WebSocket is asked for, and there is none; the same request is answered over HTTP.',
  431: 'The header fields are larger than 16 kB.',
} as const satisfies Readonly<Record<number, string>>;

type HttpRefusal = keyof typeof httpRefusals;

export interface ErrorDetails {
  /** JSON path of the field at fault. */
  readonly param?: string | null;
  /** Whole seconds after which another try makes sense. */
  readonly retryAfterSeconds?: number;
  /** Further header fields of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What happened underneath; for the log, never shown. */
  readonly cause?: unknown;
  /** An upstream's own status, type and code, shown in place of ours. */
  readonly status?: number;
  readonly upstreamType?: string | null;
  readonly upstreamCode?: string | null;
  /** An upstream's words for people. */
  readonly displayMessage?: string | null;
  /** Further members of the error, beside the usual ones. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A failure whose message may be shown to the caller. Everything else thrown is an `internal_error`. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly shownCode: string | null;
  readonly displayMessage: string | null;
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'ParleyError';
    this.code = code;
    this.status = details.status ?? errorKinds[code].status;
    this.type = details.upstreamType ?? errorKinds[code].type;
    this.param = details.param ?? null;
    this.shownCode = details.upstreamCode === undefined ? code : details.upstreamCode;
    this.displayMessage = details.displayMessage ?? null;
    this.members = details.members;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.headers = details.headers;
  }
}

/** The same failure with further members. */
export function withMembers(error: ParleyError, members: Readonly<Record<string, unknown>>): ParleyError {
  const { code, message, status, type, param, shownCode, displayMessage, retryAfterSeconds, headers } = error;
  return new ParleyError(code, message, {
    ...{ cause: error, status, upstreamType: type, upstreamCode: shownCode, param, displayMessage },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(headers !== undefined && { headers }),
    members: { ...error.members, ...members },
  });
}

/** `invalid_request` with the status that HTTP has for it. */
export function httpRefusal(status: HttpRefusal, message: string, details: ErrorDetails = {}): ParleyError {
  return new ParleyError('invalid_request', message, { ...details, status });
}

/** What a caller gets for anything thrown; what is not a ParleyError says nothing of itself. */
export function toParleyError(thrown: unknown): ParleyError {
  if (thrown instanceof ParleyError) return thrown;
  return new ParleyError('internal_error', 'The server had an error while processing the request.', { cause: thrown });
}

/** `{"error": …}` of the compat surface. */
export function toErrorBody(error: ParleyError): { error: ErrorBody } {
  const { type, message, param, shownCode: code, displayMessage, members } = error;
  return {
    error: { type, message, param, code, ...(displayMessage !== null && { display_message: displayMessage }), ...members },
  };
}
