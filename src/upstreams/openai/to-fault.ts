import { isJsonObject, type JsonObject } from '#base/json.ts';
import { UpstreamFault, type UpstreamFaultDetails } from '#domain/upstreams/upstream.ts';
import { isSaid } from '../reply-text.ts';

/** The status of error types and codes, for errors without a number. */
const statuses: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['overloaded_error', 503],
  ['server_overloaded', 503],
  ['server_error', 500],
  ['runtime_error', 500],
  ['internal_server_error', 500],
  ['upstream_error', 500],
]);

interface Said extends Required<Pick<UpstreamFaultDetails, 'type' | 'param' | 'code' | 'displayMessage'>> {
  readonly message: string | undefined;
}

const nothingSaid: Said = { message: undefined, type: null, param: null, code: null, displayMessage: null };

/** What an upstream says of its refusal, in OpenAI's form, FastAPI's or in plain words. */
export function toSaid(value: unknown): Said {
  if (!isJsonObject(value)) return nothingSaid;
  const { error = value } = value;
  const { message, type, param, code, display_message } = isJsonObject(error) ? error : ({ message: error } as JsonObject);
  const words = [message, value.detail, firstOf(value.detail)?.msg, firstOf(value.errors)?.message].find(isSaid);
  return { message: words, type: said(type), param: said(param), code: said(code), displayMessage: said(display_message) };
}

function said(words: unknown): string | null {
  return isSaid(words) ? words : null;
}

function firstOf(list: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/** Whether an event, or a reply with status 200, has an error; some upstreams send `choices` beside it. */
export function tellsOfError({ error, choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return (error ?? null) !== null;
  return isSaid(error) || (isJsonObject(error) && Object.keys(error).length > 0);
}

/** The fault that such an event or reply means. */
export function toErrorFault(value: JsonObject): UpstreamFault {
  const { message = 'The upstream sent an error.', ...others } = toSaid(value);
  const status = isJsonObject(value.error) ? statusOf(value.error) : undefined;
  return new UpstreamFault('refused', message, { ...others, ...(status !== undefined && { status }) });
}

function statusOf({ code, type }: JsonObject): number | undefined {
  if (typeof code === 'number') return code;
  // Programs of the family name the status so where no HTTP status can say it.
  return /^[45]\d\d$/.test(String(code)) ? Number(code) : (statuses.get(code) ?? statuses.get(type));
}
