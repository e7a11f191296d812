import type { JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';

/** A request as one upstream is sent it. */
interface Sent {
  readonly request: ChatRequest;
  readonly native: NativeRequest | undefined;
}

/** A request without the fields that an upstream does not support, and the names of those that it had. */
interface Supported extends Sent {
  readonly ofRequest: readonly string[];
  /** Fields of the request in the client's own dialect. */
  readonly ofNative: readonly string[];
}

/** Returns the request without top-level fields that the upstream refuses, in both of its forms. */
export function withoutUnsupported({ request, native }: Sent, fields: readonly string[]): Supported {
  const ofRequest = fields.filter((field) => request[field] !== undefined);
  const ofNative = native === undefined ? [] : fields.filter((field) => native.body[field] !== undefined);
  return {
    request: ofRequest.length === 0 ? request : (without(request, ofRequest) as ChatRequest),
    native: native === undefined || ofNative.length === 0 ? native : { ...native, body: without(native.body, ofNative) },
    ofRequest,
    ofNative,
  };
}

/** A copy, so that fields which stay are written as they came. */
function without(fields: JsonObject, names: readonly string[]): JsonObject {
  const copy = { ...fields };
  for (const name of names) delete copy[name];
  return copy;
}
