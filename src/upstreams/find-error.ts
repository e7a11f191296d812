import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { getStatusOfCode, readContextOverflow } from '#contract/errors/error-conditions.ts';
import { UpstreamError, type UpstreamErrorDetails } from '#domain/upstreams/upstream.ts';
import { isNonEmptyText } from './reply-text.ts';

/** Reasons for which replies end well. */
const goodReasons: ReadonlySet<unknown> = new Set([
  ...[undefined, null, 'stop', 'length', 'tool_calls', 'function_call', 'content_filter'],
]);
/** Reasons for which servers end a reply that they could not finish. */
const failedReason =
  /^(?:error|abort|aborted|cancelled|failed|network_error|insufficient_system_resource)$|malformed_function_call/i;
const errorName = /^event: ?error$/m;

interface ErrorDetails extends Required<Pick<UpstreamErrorDetails, 'type' | 'param' | 'code' | 'displayMessage'>> {
  readonly message: string | undefined;
}

const emptyDetails: ErrorDetails = { message: undefined, type: null, param: null, code: null, displayMessage: null };

/** What an upstream says of its refusal, in OpenAI's form, FastAPI's or in plain words. */
export function toErrorDetails(value: unknown): ErrorDetails {
  if (!isJsonObject(value)) return emptyDetails;
  const { message, type, param, code, details, display_message } = getErrorObject(value);
  const codes = [code, isJsonObject(details) ? details.error_code : undefined];
  return {
    message: isNonEmptyText(message) ? message : findMessage(value),
    type: toTextOrNull(type),
    param: toTextOrNull(param),
    code: codes.find(isNonEmptyText) ?? null,
    displayMessage: toTextOrNull(display_message),
  };
}

function getErrorObject(value: JsonObject): JsonObject {
  const { error = value } = value;
  return isJsonObject(error) ? error : { message: error };
}

/** The words of a failure that stand beside no reply. */
function findMessage({ message, msg, detail, errors }: JsonObject): string | undefined {
  const inner = isJsonObject(detail) ? [detail.message, detail.error] : [];
  return [message, msg, detail, ...inner, getFirst(detail)?.msg, getFirst(errors)?.message].find(isNonEmptyText);
}

function toTextOrNull(value: unknown): string | null {
  return isNonEmptyText(value) ? value : null;
}

function getFirst(list: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/**
 * The fault that an event means, or a reply with status 200, in whichever dialect; undefined if it tells of no error. Some
 * upstreams send `choices` beside an error; a message without choices counts as an error.
 */
export function findError(value: JsonObject): UpstreamError | undefined {
  const { object, type, error, choices, candidates } = value;
  if (object === 'error' || type === 'error') return toReportedError(value);
  if (!Array.isArray(choices)) {
    const isError = (error ?? null) !== null || (!Array.isArray(candidates) && findMessage(value) !== undefined);
    return isError ? toReportedError(value) : undefined;
  }
  if (error && isFilled(error)) return toReportedError(value);
  for (const choice of choices) {
    if (!isJsonObject(choice)) continue;
    const { error: choiceError, finish_reason: reason } = choice;
    if (choiceError && isFilled(choiceError)) return toReportedError({ error: choiceError });
    if (!goodReasons.has(reason) && isFailedReason(reason)) return createEndError(reason);
  }
  return undefined;
}

function isFilled(error: unknown): boolean {
  return isNonEmptyText(error) || (isJsonObject(error) && Object.keys(error).length > 0);
}

/** Whether a reply that ended for that reason is none. */
export function isFailedReason(reason: unknown): reason is string {
  return typeof reason === 'string' && failedReason.test(reason);
}

/** The fault of a reply that ended for such a reason. */
export function createEndError(reason: string): UpstreamError {
  return new UpstreamError('broken', `The upstream ended its answer with ${reason}.`);
}

/** The fault that an event of the name `error` means, whatever its data is; undefined for any other event. */
export function findNamedError(event: string): UpstreamError | undefined {
  if (!errorName.test(event)) return undefined;
  const text = fromLatin1(listEventData(event)[0] ?? '');
  const value = tryParseJson(text);
  return toReportedError(isJsonObject(value) ? value : { error: isNonEmptyText(value) ? value : text });
}

/** The fault that an error means, in OpenAI’s form. */
export function toReportedError(value: JsonObject): UpstreamError {
  const { message = 'The upstream sent an error.', ...rest } = toErrorDetails(value);
  const isOverflow = readContextOverflow(rest.code, message) !== undefined;
  const status = getStatus(getErrorObject(value)) ?? getStatus(value) ?? (isOverflow ? 400 : undefined);
  return new UpstreamError('refused', message, { ...rest, ...(status !== undefined && { status }) });
}

/** Programs of the family name the status as the code where no HTTP status can say it. */
function getStatus({ code, type }: JsonObject): number | undefined {
  return /^[45]\d\d$/.test(String(code)) ? Number(code) : (getStatusOfCode(code) ?? getStatusOfCode(type));
}
