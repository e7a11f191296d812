import type { ErrorCode, HttpRefusal } from './errors.ts';

/**
 * Cause and remedy of each error code, for docs/errors.md. This is a separate file because the page includes the codes but not
 * these texts.
 */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'A field of the request is missing, of the wrong type or out of bounds; `param` names it.',
  invalid_json: 'The body is not JSON text, or is nested too deeply.',
  invalid_api_version:
    'The API version of the path is no calendar date `YYYY-MM-DD`, optionally with `-preview`, or that of the query has something else in it than letters, digits, `.`, `-` and `_`.',
  ambiguous_credentials:
    'The request contains different credentials, in two header fields or in one field that is repeated. Send only one.',
  control_not_offered:
    'The completed control was not offered by the last reply, or its value does not follow the schema of that control.',
  call_depth_exceeded: 'The chain of applications calling each other is too deep, or comes back to one deployment too often.',
  unknown_addon:
    'The addon is not configured. Configured addons are listed under `addons` of the configuration, and `security.addonUrls` says whether other addresses are accepted.',
  invalid_encrypted_content:
    'Sealed content was changed or belongs to another user, or a compaction comes from another kind of model.',
  previous_response_not_found: '`previous_response_id` names a response that is not stored, is deleted, or is of another user.',
  conversation_not_found: '`conversation` names a conversation that is not stored, is deleted, or is of another user.',
  context_length_exceeded: 'The input is longer than the model takes; `truncation: "auto"` drops the oldest of it.',
  operation_not_supported: 'The deployment exists but cannot do this, such as embeddings of a chat model.',
  missing_credentials: 'Neither `Api-Key` nor `Authorization: Bearer` was sent.',
  invalid_api_key:
    'The key is not known, was deleted, has expired, or the call it was made for has ended; or its user may have no keys any more.',
  invalid_token: 'The bearer token is malformed, expired, or not of a configured identity provider.',
  access_denied: 'The deployment or resource exists, but not for the roles of this caller.',
  address_not_allowed: 'The key is bound to addresses (`allowedIps`), and the request comes from another.',
  user_blocked: 'An administrator blocked the user. Only an administrator can unblock the user.',
  consent_required: 'The user has not accepted the consent form of the application that started the chain; the message names it.',
  deployment_not_found:
    'No deployment has this id. Where `model` of the body names it the code is `model_not_found`, on paths of the Azure form `DeploymentNotFound`.',
  file_not_found: 'No stored file, prompt, conversation or folder has this path.',
  response_not_found: 'No stored response, conversation or item of the caller has this id.',
  share_not_found: 'Nothing is shared by this link: it was revoked, has expired, or what it showed was deleted.',
  evaluation_not_found: 'No case or evaluation of the caller has this id.',
  key_not_found: 'The user has no key in force of this id.',
  user_not_blocked: 'No user with this ID is blocked.',
  route_not_found: 'Nothing is served at this path; /docs lists what is.',
  method_not_allowed: 'The path exists with other methods; `Allow` lists them.',
  conversation_locked: 'Another response is being answered on the conversation; try again when it has ended.',
  consent_outdated: 'The form sent is not the form of today; get it anew.',
  too_many_keys: 'The user has as many keys as `selfService.keys` of its roles allows; delete one.',
  precondition_failed: 'The resource was changed in the meantime, or exists already.',
  payload_too_large: 'The body is larger than `security.maxBodyBytes`, or a file than a file or bucket may be.',
  unsupported_media_type: 'The body must be sent as `Content-Type: application/json`, without a content encoding.',
  token_limit_exceeded: 'The tokens of a window are used up; the message says which and when it resets.',
  request_limit_exceeded: 'The requests of a window are used up; the message says which and when it resets.',
  cost_limit_exceeded: 'The money of a window is used up; the message says which and when it resets.',
  upstream_rate_limited: 'Every upstream of the deployment refuses for its own rate limit.',
  internal_error: 'A fault of Parley itself; the log has it under the request id.',
  upstream_failed: 'The upstream failed, refused the configured credentials, or broke off its answer.',
  overloaded:
    'Too much is under way, or something the answer needs cannot be used: a store, an identity provider; try again later.',
  upstream_unavailable: 'No upstream of the deployment can be reached; try again later.',
  shutting_down: 'This node is stopping; try again, another one will answer.',
};

/** Reasons for an `invalid_request` with a more specific HTTP status, for docs/errors.md. */
export const httpRefusals = {
  408: 'The head of the request, or what is left of its body, does not come in time.',
  416: 'The range that is asked for lies behind the end of the file.',
  417: '`Expect` names something other than `100-continue`.',
  426: 'A WebSocket is asked for, and there is none; the same request is answered over HTTP.',
  431: 'The header fields are larger than 16 kB.',
} as const satisfies Readonly<Record<HttpRefusal, string>>;
