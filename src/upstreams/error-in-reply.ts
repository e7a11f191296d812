import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { eventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { getStatusOfCode, readContextOverflow } from '#contract/errors/error-conditions.ts';
import { UpstreamFault, type UpstreamFaultDetails } from '#domain/upstreams/upstream.ts';
import { isSaid } from './reply-text.ts';

/** Reasons for which replies end well. */
const goodReasons: ReadonlySet<unknown> = new Set([
  ...[undefined, null, 'stop', 'length', 'tool_calls', 'function_call', 'content_filter'],
]);
/** Reasons for which servers end a reply that they could not finish. */
const failedReason =
  /^(?:error|abort|aborted|cancelled|failed|network_error|insufficient_system_resource)$|malformed_function_call/i;
const errorName = /^event: ?error$/m;

interface Said extends Required<Pick<UpstreamFaultDetails, 'type' | 'param' | 'code' | 'displayMessage'>> {
  readonly message: string | undefined;
}

const nothingSaid: Said = { message: undefined, type: null, param: null, code: null, displayMessage: null };

/** What an upstream says of its refusal, in OpenAI's form, FastAPI's or in plain words. */
export function toSaid(value: unknown): Said {
  if (!isJsonObject(value)) return nothingSaid;
  const { message, type, param, code, details, display_message } = innerOf(value);
  const codes = [code, isJsonObject(details) ? details.error_code : undefined];
  return {
    message: isSaid(message) ? message : wordsOf(value),
    type: said(type),
    param: said(param),
    code: codes.find(isSaid) ?? null,
    displayMessage: said(display_message),
  };
}

function innerOf(value: JsonObject): JsonObject {
  const { error = value } = value;
  return isJsonObject(error) ? error : { message: error };
}

/** The words of a failure that stand beside no reply. */
function wordsOf({ message, msg, detail, errors }: JsonObject): string | undefined {
  const inner = isJsonObject(detail) ? [detail.message, detail.error] : [];
  return [message, msg, detail, ...inner, firstOf(detail)?.msg, firstOf(errors)?.message].find(isSaid);
}

function said(words: unknown): string | null {
  return isSaid(words) ? words : null;
}

function firstOf(list: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/**
 * The fault that an event means, or a reply with status 200, in whichever dialect; undefined if it tells of no error. Some
 * upstreams send `choices` beside an error; a message without choices counts as an error.
 */
export function faultIn(value: JsonObject): UpstreamFault | undefined {
  const { object, type, error, choices, candidates } = value;
  if (object === 'error' || type === 'error') return toErrorFault(value);
  if (!Array.isArray(choices)) {
    const isError = (error ?? null) !== null || (!Array.isArray(candidates) && wordsOf(value) !== undefined);
    return isError ? toErrorFault(value) : undefined;
  }
  if (error && isFilled(error)) return toErrorFault(value);
  for (const choice of choices) {
    if (!isJsonObject(choice)) continue;
    const { error: inChoice, finish_reason: reason } = choice;
    if (inChoice && isFilled(inChoice)) return toErrorFault({ error: inChoice });
    if (!goodReasons.has(reason) && isFailedReason(reason)) return endedBy(reason);
  }
  return undefined;
}

function isFilled(error: unknown): boolean {
  return isSaid(error) || (isJsonObject(error) && Object.keys(error).length > 0);
}

/** Whether a reply that ended for that reason is none. */
export function isFailedReason(reason: unknown): reason is string {
  return typeof reason === 'string' && failedReason.test(reason);
}

/** The fault of a reply that ended for such a reason. */
export function endedBy(reason: string): UpstreamFault {
  return new UpstreamFault('broken', `The upstream ended its answer with ${reason}.`);
}

/** The fault that an event of the name `error` means, whatever its data is; undefined for any other event. */
export function faultOfNamed(event: string): UpstreamFault | undefined {
  if (!errorName.test(event)) return undefined;
  const text = fromLatin1(eventData(event)[0] ?? '');
  const value = tryParseJson(text);
  return toErrorFault(isJsonObject(value) ? value : { error: isSaid(value) ? value : text });
}

/** The fault that an error means, in OpenAI’s form. */
export function toErrorFault(value: JsonObject): UpstreamFault {
  const { message = 'The upstream sent an error.', ...others } = toSaid(value);
  const isOverflow = readContextOverflow(others.code, message) !== undefined;
  const status = statusOf(innerOf(value)) ?? statusOf(value) ?? (isOverflow ? 400 : undefined);
  return new UpstreamFault('refused', message, { ...others, ...(status !== undefined && { status }) });
}

/** Programs of the family name the status as the code where no HTTP status can say it. */
function statusOf({ code, type }: JsonObject): number | undefined {
  return /^[45]\d\d$/.test(String(code)) ? Number(code) : (getStatusOfCode(code) ?? getStatusOfCode(type));
}
