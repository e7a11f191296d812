import type { Fault } from '../service/fault.ts';
import type { Words } from './english.ts';

type WordByCode = Readonly<Record<string, keyof Words>>;

/** By code of docs/errors.md: the word for what happened, for people who do not run the service. */
const everywhere: WordByCode = {
  token_limit_exceeded: 'saidLimit',
  request_limit_exceeded: 'saidLimit',
  cost_limit_exceeded: 'saidBudget',
  overloaded: 'saidBusy',
  shutting_down: 'saidBusy',
  internal_error: 'saidFault',
  access_denied: 'saidClosed',
  deployment_not_found: 'saidGone',
  model_not_found: 'saidGone',
  DeploymentNotFound: 'saidGone',
  invalid_api_key: 'saidSignedOut',
  invalid_token: 'saidSignedOut',
  missing_credentials: 'saidSignedOut',
  route_not_found: 'saidOff',
  method_not_allowed: 'saidOff',
  file_not_found: 'saidNotThere',
  response_not_found: 'saidNotThere',
  previous_response_not_found: 'saidNotThere',
  conversation_not_found: 'saidNotThere',
  share_not_found: 'saidNotThere',
  evaluation_not_found: 'saidNotThere',
  precondition_failed: 'saidChanged',
  connection_lost: 'unreachable',
};

/** Where a model answers, these can mean it alone. */
const ofAnswers: WordByCode = {
  ...everywhere,
  unknown_addon: 'saidToolGone',
  control_not_offered: 'saidNotThere',
  upstream_rate_limited: 'saidBusy',
  upstream_unavailable: 'saidAway',
  upstream_failed: 'saidFailed',
  context_length_exceeded: 'saidTooLong',
  payload_too_large: 'saidTooLarge',
  broke_off: 'brokeOff',
};

/** What happened, in plain words where there are any for it; else as the service said it. */
export function saidOf({ code, message }: Pick<Fault, 'code' | 'message'>, words: Words): string {
  return wordOf(code, words, everywhere) ?? (message || `${words.faultTitle} (${code}).`);
}

/**
 * What happened instead of an answer, or ended it: as the one who failed would have people told, else in plain words by the code
 * or, for codes of upstreams that nobody here knows, by the status. What the service said stands among the details.
 */
export function saidOfAnswer(fault: Pick<Fault, 'status' | 'code' | 'displayMessage'>, words: Words): string {
  const { status, code, displayMessage } = fault;
  return displayMessage ?? wordOf(code, words, ofAnswers) ?? words[byStatus(status)];
}

function byStatus(status: number): 'saidSignedOut' | 'saidClosed' | 'saidGone' | 'saidBusy' | 'saidRefused' | 'saidFailed' {
  if (status === 401) return 'saidSignedOut';
  if (status === 403) return 'saidClosed';
  if (status === 404) return 'saidGone';
  if (status === 429) return 'saidBusy';
  return status >= 400 && status < 500 ? 'saidRefused' : 'saidFailed';
}

function wordOf(code: string, words: Words, wordFor: WordByCode): string | undefined {
  const word = Object.hasOwn(wordFor, code) ? wordFor[code] : undefined;
  const said = word && words[word];
  return typeof said === 'string' ? said : undefined;
}
