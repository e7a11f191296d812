import { isKnownCode } from '#contract/errors/error-conditions.ts';
import { type ParleyError, toErrorBody } from '#contract/errors/errors.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type { ResponseError } from '#contract/responses/response.ts';

/** Returns the event of an error. Its `error` field repeats the fields of the error body. */
export function toErrorEvent(error: ParleyError): UnnumberedEvent {
  const { type, message, param, code, display_message } = toErrorBody(error).error;
  const details = { type, message, param, code, ...(display_message !== undefined && { display_message }) };
  return { type: 'error', code, message, param, error: details };
}

/** Returns the `error` field of a response. */
export function toResponseError({ status, publicCode, message }: ParleyError): ResponseError {
  return { code: isKnownCode(publicCode) ? publicCode : getCode(status), message };
}

function getCode(status: number): string {
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 400 && status < 500 ? 'invalid_prompt' : 'server_error';
}
