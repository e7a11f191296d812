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
  upstream_rate_limited: 'saidBusy',
  upstream_unavailable: 'saidAway',
  upstream_failed: 'saidFailed',
  context_length_exceeded: 'saidTooLong',
  payload_too_large: 'saidTooLarge',
  broke_off: 'brokeOff',
};

/** What happened, in plain words where there are any for it; else as the service said it. */
export function saidOf(fault: Pick<Fault, 'code' | 'message'>, words: Words): string {
  return toWords(fault, words, everywhere);
}

/** `saidOf` of a fault that came instead of an answer, or ended it. */
export function saidOfAnswer(fault: Pick<Fault, 'code' | 'message'>, words: Words): string {
  return toWords(fault, words, ofAnswers);
}

function toWords({ code, message }: Pick<Fault, 'code' | 'message'>, words: Words, wordFor: WordByCode): string {
  const word = Object.hasOwn(wordFor, code) ? wordFor[code] : undefined;
  const said = word && words[word];
  return typeof said === 'string' ? said : message || `${words.faultTitle} (${code}).`;
}
