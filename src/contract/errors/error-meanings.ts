import type { ErrorCode, HttpRejection } from './errors.ts';

/**
 * Cause and remedy of each error code, for docs/errors.md. This is a separate file because the page includes the codes but not
 * these texts.
 */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'A field of the request is missing, has the wrong type, or is out of bounds. `param` is its path.',
  invalid_json: 'The body is not JSON text, or is nested too deeply.',
  invalid_api_version:
    'The API version is not valid. In the path, it must be a calendar date `YYYY-MM-DD`, optionally with `-preview`. In the query, it can contain only letters, digits, `.`, `-`, and `_`.',
  ambiguous_credentials:
    'The request contains different credentials, in two header fields or in one field that is repeated. Send only one.',
  control_not_offered:
    'The last reply did not offer the completed control, or its value does not follow the schema of that control.',
  call_depth_exceeded: 'The chain of applications that call each other is too deep, or calls one deployment too often.',
  unknown_addon:
    'The addon is not configured. Configured addons are in `addons` of the configuration. `security.addonUrls` sets whether other URLs are accepted.',
  invalid_encrypted_content:
    'Encrypted content was changed or belongs to another user, or a compaction comes from another kind of model.',
  previous_response_not_found: 'The response in `previous_response_id` is not stored, is deleted, or belongs to another user.',
  conversation_not_found: 'The conversation in `conversation` is not stored, is deleted, or belongs to another user.',
  context_length_exceeded:
    'The input is longer than the model accepts. In the Responses API, `truncation: "auto"` drops the oldest part of the input.',
  operation_not_supported: 'The deployment exists but does not support this operation, such as embeddings of a chat model.',
  missing_credentials: 'The request has no `Api-Key`, no `Authorization: Bearer`, and on `/anthropic` no `x-api-key`.',
  invalid_api_key:
    'The key is unknown, deleted, or expired. A per-request key expires when its call ends. Keys of a user are also rejected if the roles of the user no longer allow keys.',
  invalid_token: 'The bearer token is malformed, expired, revoked, or not from a configured identity provider.',
  access_denied: 'The roles or key of the client do not permit this, or the resource belongs to another user or does not exist.',
  address_not_allowed: 'The key is restricted to addresses (`allowedIps`), and the request comes from another address.',
  user_blocked: 'An administrator blocked the user. Only an administrator can unblock the user.',
  consent_required:
    'The user has not accepted the consent form of the application at the start of the call chain. The message contains its name.',
  deployment_not_found:
    'No deployment has this ID. If the ID is in `model` of the body, the code is `model_not_found`. On paths of the Azure form, it is `DeploymentNotFound`.',
  file_not_found: 'No stored file, prompt, conversation, or folder has this path.',
  response_not_found: 'No stored response, conversation, or item of the user has this ID.',
  share_not_found: 'The link was revoked or has expired, or the shared conversation was deleted.',
  evaluation_not_found: 'No case or evaluation of the user has this ID.',
  key_not_found: 'The user has no active key with this ID.',
  entry_not_found: 'No entry of this kind has this ID.',
  call_not_found: 'No record of a call has this ID, or the record has expired.',
  change_not_found: 'No change has this ID.',
  user_not_blocked: 'No user with this ID is blocked.',
  resource_not_found: 'No provisioned user or group has this ID.',
  route_not_found: 'This path does not exist. See /docs for the available paths.',
  method_not_allowed: 'The path supports other methods, which are in `Allow`.',
  conversation_locked: 'Another response on the conversation is in progress. Retry after it ends.',
  consent_outdated: 'The consent form in the request is not the current form. Get the current form.',
  too_many_keys:
    'The user has as many keys as `selfService.keys` of the roles allows, or the project has as many keys as its owners can create. Delete a key, or ask an administrator to delete keys of the project.',
  configured_in_file: 'The entry is in a configuration file, which takes precedence. Change the file.',
  in_use: 'Other entries need this entry. The message names them.',
  last_administrator: 'After the change, no key or sign-in would have the role `admin`.',
  name_taken: 'Another provisioned user or group has this name.',
  administrator_exists: 'The one-time token works only while no key or sign-in has the role `admin`.',
  change_overwritten: 'A later change affected the same entry, so this change cannot be undone.',
  key_revoked:
    'The secret of a key was deleted or replaced, or a rollback would make a key valid again. The message contains the next step.',
  precondition_failed: 'The resource was changed in the meantime, or already exists.',
  payload_too_large: 'The body is larger than `security.maxBodyBytes`, or a file exceeds the limit of a file or bucket.',
  unsupported_media_type:
    'The path does not support the `Content-Type`, its charset, or the `Content-Encoding` of the body. Most paths require `application/json`.',
  token_limit_exceeded: 'The token limit of a window is reached. The message contains the window and the time of its reset.',
  request_limit_exceeded:
    'The request limit of a window is reached. The message contains the window and the time of its reset. Parley also returns this code if too many unknown tokens come from the address of the client.',
  cost_limit_exceeded: 'The cost limit of a window is reached. The message contains the window and the time of its reset.',
  parallel_limit_exceeded:
    '`maxParallel` of the user, its key, or its project is reached. `Retry-After` is the expected time until a call in progress ends.',
  too_many_chat_runs: 'The user has too many chat runs that have not ended. Wait for one to end, or cancel one.',
  upstream_rate_limited: 'All upstreams of the deployment reject the call because of their rate limits.',
  internal_error: 'An internal error of Parley. The log contains details under the request ID.',
  node_lost: 'The node that was answering in the background stopped, so the answer ends early. Send the request again.',
  upstream_failed:
    'The upstream failed, rejected the configured credentials, or ended its response early. If an endpoint of `features` does not respond, the status is 502.',
  overloaded: 'Too many calls are in progress, or a required store or identity provider is unavailable. Retry later.',
  upstream_unavailable:
    'No upstream of the deployment is reachable. Retry later. The code is also returned if all upstreams have a `weight` of 0.',
  shutting_down: 'This node is shutting down. Retry to reach another node.',
};

/** Reasons for an `invalid_request` with a more specific HTTP status, for docs/errors.md. */
export const httpRejections = {
  408: 'The request header, or the rest of the body, does not arrive in time.',
  416: 'The requested range starts after the end of the file.',
  417: '`Expect` has a value other than `100-continue`.',
  426: 'The request asks for a WebSocket, which is not supported. Send the same request over HTTP.',
  431: 'The header fields are larger than 16 kB.',
} as const satisfies Readonly<Record<HttpRejection, string>>;
