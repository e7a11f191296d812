import { isJsonObject, type JsonObject } from '#base/json.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { isSaid } from '../read-whole.ts';

interface Said {
  readonly message: string | undefined;
  readonly param: string | null;
  readonly code: string | null;
}

/** What an upstream says of its refusal, in OpenAI's form, FastAPI's or in plain words. */
export function toSaid(value: unknown): Said {
  if (!isJsonObject(value)) return { message: undefined, param: null, code: null };
  const { error = value } = value;
  const { message, param, code } = isJsonObject(error) ? error : { message: error };
  const words = [message, value.detail, firstOf(value.detail)?.msg, firstOf(value.errors)?.message].find(isSaid);
  return { message: words, param: isSaid(param) ? param : null, code: isSaid(code) ? code : null };
}

function firstOf(list: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/** Whether an event, or a reply that calls itself good, tells of an error; some upstreams send `choices` beside it. */
export function tellsOfError({ error, choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return (error ?? null) !== null;
  return isSaid(error) || (isJsonObject(error) && Object.keys(error).length > 0);
}

/** The fault that such an event or reply tells of. */
export function toErrorFault(value: JsonObject): UpstreamFault {
  const { message = 'The upstream sent an error.', param, code } = toSaid(value);
  const status = isJsonObject(value.error) && typeof value.error.code === 'number' ? value.error.code : undefined;
  return new UpstreamFault('refused', message, { param, code, ...(status !== undefined && { status }) });
}
