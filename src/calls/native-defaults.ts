import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import { toResponsesRequest } from '#upstreams/responses/to-responses-request.ts';

/** Fields of a translated request that do not come from the defaults. */
const notDefaults: ReadonlySet<string> = new Set(['model', 'input', 'store', 'stream', 'include']);

/** Adds the deployment's defaults to a relayed request of the Responses API where it has no value. Requests of other dialects keep theirs. */
export function withNativeDefaults(native: NativeRequest | undefined, { defaults = {} }: Deployment): NativeRequest | undefined {
  if (native?.dialect !== 'responses' || Object.keys(defaults).length === 0) return native;
  const translated = Object.entries(toResponsesRequest({ messages: [], ...defaults }, ''));
  const added = translated.filter(([field]) => !notDefaults.has(field));
  return { ...native, body: withAbsent(native.body, Object.fromEntries(added)) };
}

/** Objects such as `reasoning` and `text` are completed field by field. */
function withAbsent(body: JsonObject, defaults: JsonObject): JsonObject {
  const whole = { ...body };
  for (const [field, value] of Object.entries(defaults)) {
    const own = body[field] ?? null;
    if (own === null) whole[field] = value;
    else if (isJsonObject(own) && isJsonObject(value)) whole[field] = withAbsent(own, value);
  }
  return whole;
}
