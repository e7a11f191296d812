import type { Fault } from '../service/fault.ts';
import type { Words } from './english.ts';

/** By code of docs/errors.md: the word for what happened, for people who do not run the service. */
const wordFor: Readonly<Record<string, keyof Words>> = {
  token_limit_exceeded: 'saidLimit',
  request_limit_exceeded: 'saidLimit',
  cost_limit_exceeded: 'saidBudget',
  upstream_rate_limited: 'saidBusy',
  overloaded: 'saidBusy',
  shutting_down: 'saidBusy',
  upstream_unavailable: 'saidAway',
  upstream_failed: 'saidFailed',
  internal_error: 'saidFault',
  context_length_exceeded: 'saidTooLong',
  payload_too_large: 'saidTooLarge',
  access_denied: 'saidClosed',
  deployment_not_found: 'saidGone',
  model_not_found: 'saidGone',
  DeploymentNotFound: 'saidGone',
  invalid_api_key: 'saidSignedOut',
  invalid_token: 'saidSignedOut',
  missing_credentials: 'saidSignedOut',
  broke_off: 'brokeOff',
  connection_lost: 'unreachable',
};

/** What happened, in plain words where there are any for it; else as the service said it. */
export function saidOf({ code, message }: Pick<Fault, 'code' | 'message'>, words: Words): string {
  const word = Object.hasOwn(wordFor, code) ? wordFor[code] : undefined;
  const said = word && words[word];
  return typeof said === 'string' ? said : message || `${words.faultTitle} (${code}).`;
}
