import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import { joinPath } from '#base/http/url-path.ts';
import { filterStrings, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { toBody } from '#base/json/raw-json.ts';
import { DeferredHandle } from '#base/stream/deferred-handle.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { MessagesRequest } from '#contract/messages/dialect.ts';
import { type Attempt, type ChatProtocol, requireEndpoint, UpstreamError } from '#domain/upstreams/upstream.ts';
import { listForeignTools } from '../prompt/select-tools.ts';
import { type ReplyDialect, sendForReply } from '../upstream-reply.ts';
import { createTranslatedDialect, relayedDialect, tokenCountDialect } from './read-reply.ts';
import { requestFields } from './request-fields.ts';
import { isForeignTool, toMessagesRequest } from './to-messages-request.ts';

const defaultVersion = '2023-06-01';
const betaNamePattern = /^[\w.-]+$/;

/**
 * Creates the protocol for upstreams with the URLs and the credentials of Anthropic's API. `endpoint` is the base URL ending in
 * /v1.
 */
export function createAnthropicProtocol(http: HttpClient, clock: Pick<Clock, 'epochMs'>): ChatProtocol {
  return createMessagesProtocol({
    http,
    clock,
    prepareRequest(attempt, operation, body) {
      const { key } = attempt.upstream;
      const credentials: Record<string, string> = key === undefined ? {} : { 'x-api-key': key.reveal() };
      const headers = toHeaders(attempt, { isStreamed: body.stream === true, credentials });
      return { url: joinPath(requireEndpoint(attempt.upstream), operation), headers, body };
    },
  });
}

interface HeaderOptions {
  readonly isStreamed: boolean;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Returns the headers of a request. Configured headers replace the client's, except for betas, which are combined. */
export function toHeaders(
  { upstream, request, nativeRequest, headers }: Attempt,
  { isStreamed, credentials }: HeaderOptions,
): Record<string, string> {
  const configured = lowerCaseNames(upstream.headers);
  const clientHeaders = nativeRequest?.headers ?? {};
  const betas = [
    configured['anthropic-beta'],
    clientHeaders['anthropic-beta'],
    ...(nativeRequest === undefined ? filterStrings(request.betas).filter((beta) => betaNamePattern.test(beta)) : []),
  ];
  const beta = betas.filter(Boolean).join(',');
  return {
    'content-type': 'application/json',
    'anthropic-version': defaultVersion,
    ...clientHeaders,
    ...(upstream.apiVersion !== undefined && { 'anthropic-version': upstream.apiVersion }),
    ...credentials,
    ...configured,
    ...headers,
    accept: isStreamed ? 'text/event-stream' : 'application/json',
    ...(beta !== '' && { 'anthropic-beta': beta }),
  };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

type Operation = 'messages' | 'messages/count_tokens';

/** URL, headers, and body of a request in the dialect. */
interface EndpointRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

interface MessagesProtocolDeps {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Returns the request for one kind of endpoint, or a function that first waits for a token. Throws `UpstreamError`. */
  readonly prepareRequest: (
    attempt: Attempt,
    operation: Operation,
    body: JsonObject,
  ) => EndpointRequest | ((signal: AbortSignal) => Promise<EndpointRequest>);
}

/**
 * Creates the protocol for upstreams that support the Messages dialect over HTTP. Requests in the dialect are relayed. Requests in
 * another dialect are translated. The upstream streams only if the client does, because a complete reply has its own status and is
 * parsed only once.
 */
export function createMessagesProtocol({
  http,
  clock,
  prepareRequest,
}: MessagesProtocolDeps): Required<Omit<ChatProtocol, 'embed' | 'passThrough'>> {
  const send = <Item>(attempt: Attempt, operation: Operation, options: SendOptions<Item>): Handle => {
    const { body, dialect, reply } = options;
    const sendTo = (target: EndpointRequest): Handle =>
      sendForReply(http, toRequest(attempt, target), { dialect, attempt, sink: reply });
    const prepared = prepareRequest(attempt, operation, body);
    if (typeof prepared !== 'function') return sendTo(prepared);
    const deferred = new DeferredHandle();
    deferred.startAfter(prepared, sendTo, (error) => reply.fail(error));
    return deferred;
  };
  return {
    supportsSeveralChoices: false,
    chat(attempt, reply) {
      const native = getNativeBody(attempt);
      if (native !== undefined) return send(attempt, 'messages', { body: native, dialect: relayedDialect, reply });
      const { request, upstream, maxCompletionTokens, onIgnored } = attempt;
      const { model } = upstream;
      const body = toMessagesRequest(request, { model, maxCompletionTokens });
      onIgnored?.(listIgnoredFields(request, body));
      return send(attempt, 'messages', {
        body,
        dialect: createTranslatedDialect(Math.floor(clock.epochMs() / 1000), model),
        reply,
      });
    },
    countTokens(attempt, reply) {
      const body = getNativeBody(attempt);
      if (body === undefined) throw new UpstreamError('broken', 'Token counting requires a request in the Messages dialect.');
      return send(attempt, 'messages/count_tokens', { body, dialect: tokenCountDialect, reply });
    },
  };
}

interface SendOptions<Item> {
  readonly body: JsonObject;
  readonly dialect: ReplyDialect<Item>;
  readonly reply: Sink<Item>;
}

function toRequest({ upstream }: Attempt, { url, headers, body }: EndpointRequest): HttpRequest {
  return { method: 'POST', url, headers, body: toBody(body), timeouts: upstream.timeouts };
}

/** Returns the client's own body with the model name of the upstream. Returns undefined if the client speaks another dialect. */
function getNativeBody({ nativeRequest, upstream }: Attempt): JsonObject | undefined {
  return nativeRequest?.dialect === 'messages' ? { ...nativeRequest.body, model: upstream.model } : undefined;
}

/** Fields that are dropped because Parley implements them itself. */
const handledFields: ReadonlySet<string> = new Set(['stream_options', 'n', 'addons', 'functions', 'function_call']);
/** Values without an effect. */
const neutralValues: readonly unknown[] = [null, undefined, false, 'none'];
const penaltyFields: ReadonlySet<string> = new Set(['presence_penalty', 'frequency_penalty']);

/** Returns the fields of a chat request that have no effect in `body`, which is the same request in the Messages dialect. */
function listIgnoredFields(request: ChatRequest, body: MessagesRequest): string[] {
  const fields = Object.entries(request).filter(([field, value]) => !isNeutral(field, value) && isIgnored(field, value, body));
  return [...fields.map(([field]) => field), ...listForeignTools(request, isForeignTool)];
}

function isNeutral(field: string, value: unknown): boolean {
  return neutralValues.includes(value) || (penaltyFields.has(field) && value === 0) || (field === 'top_p' && value === 1);
}

function isIgnored(field: string, value: unknown, body: MessagesRequest): boolean {
  if (requestFields.get(field)?.handling === 'dropped') return !handledFields.has(field);
  switch (field) {
    case 'temperature':
    case 'top_p':
      return body[field] !== value;
    case 'service_tier':
      return body.service_tier === undefined;
    case 'reasoning_effort':
      return body.thinking === undefined;
    case 'metadata':
      return isJsonObject(value) && Object.keys(value).some((key) => key !== 'user_id');
    default:
      return false;
  }
}
