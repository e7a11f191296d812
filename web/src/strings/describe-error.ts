import type { Strings } from '../locales/en/page.ts';
import type { ErrorDetails } from '../service/service-error.ts';

type StringByCode = Readonly<Record<string, keyof Strings>>;

/** Texts for users, by error code (docs/errors.md). */
const commonErrors: StringByCode = {
  token_limit_exceeded: 'errorLimit',
  request_limit_exceeded: 'errorLimit',
  parallel_limit_exceeded: 'errorParallel',
  cost_limit_exceeded: 'errorBudget',
  overloaded: 'errorOverloaded',
  shutting_down: 'errorOverloaded',
  internal_error: 'errorInternal',
  access_denied: 'errorAccess',
  deployment_not_found: 'errorRemoved',
  model_not_found: 'errorRemoved',
  DeploymentNotFound: 'errorRemoved',
  invalid_api_key: 'errorSignedOut',
  invalid_token: 'errorSignedOut',
  missing_credentials: 'errorSignedOut',
  route_not_found: 'errorDisabled',
  method_not_allowed: 'errorDisabled',
  file_not_found: 'errorNotFound',
  response_not_found: 'errorNotFound',
  previous_response_not_found: 'errorNotFound',
  conversation_not_found: 'errorNotFound',
  share_not_found: 'errorNotFound',
  evaluation_not_found: 'errorNotFound',
  precondition_failed: 'errorChanged',
  connection_lost: 'unreachable',
};

/** Codes that have this meaning only for an answer. */
const answerErrors: StringByCode = {
  ...commonErrors,
  unknown_addon: 'errorToolRemoved',
  control_not_offered: 'errorNotFound',
  upstream_rate_limited: 'errorBusy',
  too_many_chat_runs: 'errorTooManyAnswers',
  node_lost: 'errorNodeLost',
  upstream_unavailable: 'errorUnavailable',
  upstream_failed: 'errorFailed',
  context_length_exceeded: 'errorTooLong',
  payload_too_large: 'errorTooLarge',
  broke_off: 'brokeOff',
};

/** Describes an error with a text for its code, or with the message of the service if the code is unknown. */
export function describeError({ code, message }: Pick<ErrorDetails, 'code' | 'message'>, strings: Strings): string {
  return findString(code, strings, commonErrors) ?? (message || `${strings.errorTitle} (${code}).`);
}

/**
 * Describes why an answer failed. Uses the first of these texts: the display message of the failed deployment, the text for the
 * code, and the text for the status. The message of the service appears only in the details.
 */
export function describeAnswerError(error: Pick<ErrorDetails, 'status' | 'code' | 'displayMessage'>, strings: Strings): string {
  const { status, code, displayMessage } = error;
  return displayMessage ?? findString(code, strings, answerErrors) ?? strings[getKeyByStatus(status)];
}

function getKeyByStatus(
  status: number,
): 'errorSignedOut' | 'errorAccess' | 'errorRemoved' | 'errorBusy' | 'errorRejected' | 'errorFailed' {
  if (status === 401) return 'errorSignedOut';
  if (status === 403) return 'errorAccess';
  if (status === 404) return 'errorRemoved';
  if (status === 429) return 'errorBusy';
  return status >= 400 && status < 500 ? 'errorRejected' : 'errorFailed';
}

function findString(code: string, strings: Strings, keyByCode: StringByCode): string | undefined {
  const key = Object.hasOwn(keyByCode, code) ? keyByCode[code] : undefined;
  const text = key && strings[key];
  return typeof text === 'string' ? text : undefined;
}
