import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { EventSplitter, listEventData } from '#base/stream/event-splitter.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import type { Message } from '#contract/chat/message.ts';
import { encodePath, readRequestId, type Service, type ServiceRequest } from './service.ts';
import { parseErrorDetails, ServiceError } from './service-error.ts';

export interface ReplyRequest {
  readonly deployment: string;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
  /** Additional fields of the request. */
  readonly fields?: object;
}

/** Streams the chunks of a reply until the service ends it. Throws `ServiceError` if it fails or is interrupted. */
export async function* streamReply(service: Service, request: ReplyRequest): AsyncGenerator<Chunk> {
  const path = `openai/deployments/${encodePath(request.deployment)}/chat/completions`;
  yield* streamChunks(service, { path, body: toRequestBody(request), signal: request.signal });
}

/** Returns the body of a streamed chat completion, without the deployment. */
export function toRequestBody({ fields, messages }: ReplyRequest): object {
  return { stream: true, stream_options: { include_cost: true }, ...fields, messages };
}

/** Sends a request and streams the chunks of its reply. Throws the same errors as `streamReply`. */
export async function* streamChunks(
  service: Service,
  { path, ...request }: ServiceRequest & { readonly path: string; readonly signal: AbortSignal },
): AsyncGenerator<Chunk> {
  const response = await service.send(path, { method: 'POST', ...request });
  for await (const data of readEvents(response, request.signal)) yield toChunk(data, response);
}

/** Streams the data of each event until the service ends the stream. Throws `ServiceError` if the stream is interrupted. */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const splitter = new EventSplitter();
  let isDone = false;
  // Reads after `[DONE]` to the end of the stream, because the service would treat an earlier end as a disconnect.
  for await (const text of readText(response, signal)) {
    for (const data of listEventData(splitter.push(text))) {
      if (data === '[DONE]') isDone = true;
      else if (!isDone) yield data;
    }
  }
  if (isDone) return;
  throw new ServiceError({ status: 200, code: 'broke_off', message: '' });
}

/** Parses an event. Throws `ServiceError` for an error event, with the request ID in `response`. */
export function toChunk(data: string, response?: Response): Chunk {
  const value = tryParseJson(data);
  if (isJsonObject(value) && value.error !== undefined)
    throw new ServiceError({ ...parseErrorDetails(value, 200), ...readRequestId(response) });
  if (!isJsonObject(value) || !Array.isArray(value.choices))
    throw new ServiceError({ status: 200, code: 'broke_off', message: '' });
  return value as unknown as Chunk;
}

async function* readText({ body }: Response, signal: AbortSignal): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal.throwIfAborted();
        throw new ServiceError({ status: 200, code: 'broke_off', message: '' }, error);
      });
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
