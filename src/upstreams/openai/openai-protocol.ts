import type { HttpBody, HttpClient, HttpRequest } from '#base/http/client.ts';
import { addQuery, joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { toBody } from '#base/json/raw-json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainRequest } from '#contract/chat/content.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { withJoinedUserMessages, withLeadingInstructions } from '#contract/chat/leading-instructions.ts';
import { getToolCalls, type Message, rejectedNameCharacters, withAcceptedNames } from '#contract/chat/message.ts';
import { type PassThroughApi, passThroughApis } from '#contract/pass-through.ts';
import { acceptsReasoning } from '#domain/upstreams/find-unsupported-thoughts.ts';
import {
  type Attempt,
  type ChatProtocol,
  type FormFields,
  type NativeRequest,
  type PassThroughRequest,
  requireEndpoint,
  type Upstream,
  type UpstreamApi,
} from '#domain/upstreams/upstream.ts';
import { sendForReply } from '../upstream-reply.ts';
import { createPassThroughDialect } from './passed-reply.ts';
import { chatDialect, embeddingsDialect } from './read-reply.ts';

type Operation = 'chat/completions' | 'embeddings' | PassThroughApi;

interface Dialect {
  url(upstream: Upstream, operation: Operation): URL;
  /** Returns the headers with the upstream's key. */
  credentials(key: string): Record<string, string>;
  toBody(request: ChatRequest, upstream: Upstream, isTranslated: boolean): JsonObject;
  toEmbeddingsBody(request: EmbeddingsRequest, upstream: Upstream): JsonObject;
}

/** OpenAI's API and compatible APIs. `endpoint` is the base URL, which ends in `/v1`. */
const openai: Dialect = {
  url: toOperationUrl,
  credentials: (key) => ({ authorization: `Bearer ${key}` }),
  toBody: (request, upstream, isTranslated) =>
    requestUsage({ ...toStrictMessages(toPlainRequest(request), upstream, isTranslated), model: upstream.model }),
  toEmbeddingsBody: (request, upstream) => ({ ...request, model: upstream.model }),
};

/** Azure OpenAI. `endpoint` ends in `/openai/deployments/<name>`. */
const azure: Dialect = {
  url(upstream, operation) {
    const url = toOperationUrl(upstream, operation);
    if (upstream.apiVersion !== undefined) url.searchParams.set('api-version', upstream.apiVersion);
    return url;
  },
  credentials: (key) => ({ 'api-key': key }),
  toBody: (request, upstream, isTranslated) =>
    openai.toBody(reduceNames(request, rejectedNameCharacters.azure), upstream, isTranslated),
  toEmbeddingsBody: openai.toEmbeddingsBody,
};

/** An application. `endpoint` is the full URL. The body is unchanged except for reduced names and the request for token counts. */
const application: Dialect = {
  url: requireEndpoint,
  credentials: (key) => ({ 'api-key': key }),
  toBody: (request) => requestUsage(reduceNames(request, rejectedNameCharacters.application)),
  toEmbeddingsBody: (request) => request,
};

/** A DIAL adapter. Like an application, but without additions to the body. */
const dial: Dialect = {
  ...application,
  toBody: (request) => reduceNames(request, rejectedNameCharacters.application),
};

const dialects = { openai, azure, application, dial };

/** Part of the request that is the same for all calls to an upstream. */
interface RequestBase {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the request base of an upstream, which is created once. */
type GetBase = (upstream: Upstream) => RequestBase;

/**
 * Creates the protocol for upstreams with OpenAI's chat completions API. `responses` is the protocol for upstreams that serve the
 * Responses API.
 */
export function createOpenAiProtocol(http: HttpClient, name: keyof typeof dialects, responses?: ChatProtocol): ChatProtocol {
  const dialect = dialects[name];
  const cacheBases = (operation: Operation, accept: string): GetBase => {
    const bases = new WeakMap<Upstream, RequestBase>();
    return (upstream) => {
      let base = bases.get(upstream);
      if (base === undefined) {
        base = toBase(dialect, upstream, { operation, accept });
        bases.set(upstream, base);
      }
      return base;
    };
  };
  const getCompleteBase = cacheBases('chat/completions', 'application/json');
  const getStreamedBase = cacheBases('chat/completions', 'text/event-stream');
  const getEmbeddingsBase = cacheBases('embeddings', 'application/json');
  const passThroughBases = Object.fromEntries(passThroughApis.map((api) => [api, cacheBases(api, '*/*')])) as Record<
    PassThroughApi,
    GetBase
  >;
  return {
    supportsSeveralChoices: true,
    chat(attempt, reply) {
      const { upstream, nativeRequest, isTranslated = false } = attempt;
      const { apis } = upstream;
      if (apis !== undefined && responses !== undefined && isForResponses(apis, nativeRequest))
        return responses.chat(attempt, reply);
      const request = nativeRequest === undefined ? attempt.request : removeThinkingBlocks(attempt.request);
      const base = request.stream === true ? getStreamedBase(upstream) : getCompleteBase(upstream);
      const httpRequest = toRequest(base, attempt, toBody(dialect.toBody(request, upstream, isTranslated)));
      return sendForReply(http, httpRequest, { dialect: chatDialect, attempt, sink: reply });
    },
    embed(attempt, reply) {
      const { upstream, request } = attempt;
      const body = toBody(dialect.toEmbeddingsBody(request, upstream));
      const httpRequest = toRequest(getEmbeddingsBase(upstream), attempt, body);
      return sendForReply(http, httpRequest, { dialect: embeddingsDialect, attempt, sink: reply });
    },
    passThrough(attempt, reply) {
      const { upstream, request } = attempt;
      const { body, contentType, hidesUsage } = toPassThroughBody(request, upstream);
      const base = passThroughBases[request.api](upstream);
      const httpRequest = toRequest({ ...base, headers: { ...base.headers, 'content-type': contentType } }, attempt, body);
      const dialect = createPassThroughDialect(request, hidesUsage);
      return sendForReply(http, { ...httpRequest, isNotRepeatable: true }, { dialect, attempt, sink: reply });
    },
  };
}

/**
 * Returns whether a request is sent to the Responses API. This is the case if the upstream serves it, and if the client uses it or
 * the upstream does not serve chat completions.
 */
function isForResponses(apis: readonly UpstreamApi[], nativeRequest: NativeRequest | undefined): boolean {
  return apis.includes('responses') && (nativeRequest?.dialect === 'responses' || !apis.includes('chat'));
}

function toBase(
  dialect: Dialect,
  upstream: Upstream,
  { operation, accept }: { operation: Operation; accept: string },
): RequestBase {
  const credentials = upstream.key === undefined ? {} : dialect.credentials(upstream.key.reveal());
  return {
    url: dialect.url(upstream, operation),
    headers: { 'content-type': 'application/json', accept, ...upstream.headers, ...credentials },
  };
}

function toRequest(base: RequestBase, attempt: Pick<Attempt, 'upstream' | 'headers' | 'query'>, body: HttpBody): HttpRequest {
  const { timeouts } = attempt.upstream;
  const url = attempt.query ? addQuery(base.url, attempt.query) : base.url;
  return { method: 'POST', url, headers: { ...base.headers, ...attempt.headers }, body, timeouts };
}

interface PassThroughBody {
  readonly body: HttpBody;
  readonly contentType: string;
  /**
   * Whether to hide the usage event of a stream, which the client did not request. Parley always requests it from the upstream.
   */
  readonly hidesUsage: boolean;
}

/** Returns the original body with the model name of the upstream, and with the request for token counts. */
function toPassThroughBody(request: PassThroughRequest, { model }: Upstream): PassThroughBody {
  if ('form' in request) return toFormBody(request.form, model, request.defaults);
  const { api, body } = request;
  const upstreamBody = { ...body, model };
  const sentBody = api === 'completions' ? requestUsage(upstreamBody) : upstreamBody;
  const { stream_options: options } = body;
  const hidesUsage = sentBody !== upstreamBody && !(isJsonObject(options) && options.include_usage === true);
  return { body: toBody(sentBody), contentType: 'application/json', hidesUsage };
}

function toOperationUrl(upstream: Upstream, operation: Operation): URL {
  return joinPath(requireEndpoint(upstream), operation);
}

/** Removes `thinking_blocks`, which clients of the Messages dialect send and OpenAI's API rejects. */
function removeThinkingBlocks(request: ChatRequest): ChatRequest {
  const messages = request.messages.map(({ thinking_blocks: _blocks, ...message }) => message);
  return { ...request, messages };
}

/**
 * Returns the request with messages that strict servers accept, according to the settings of the upstream. User messages are joined
 * only in translated requests, because a chat client chose its own messages.
 */
function toStrictMessages(request: ChatRequest, upstream: Upstream, isTranslated: boolean): ChatRequest {
  let { messages } = request;
  if (!acceptsReasoning(upstream)) messages = removeReasoning(messages);
  if (needsReasoning(upstream)) messages = addReasoning(messages);
  if (upstream.preservesSystemMessages !== true) messages = withLeadingInstructions(messages);
  if (isTranslated && upstream.preservesSystemMessages !== true) messages = withJoinedUserMessages(messages);
  return messages === request.messages ? request : { ...request, messages };
}

function reduceNames(request: ChatRequest, rejectedCharacters: RegExp): ChatRequest {
  const messages = withAcceptedNames(request.messages, rejectedCharacters);
  return messages === request.messages ? request : { ...request, messages };
}

/** Hosts of vendors that reject a conversation with calls if an assistant message has no `reasoning_content`. */
const thinkingHosts = /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn))$/;

/** Placeholder for missing reasoning. DeepSeek rejects an empty text. */
const blankReasoning = ' ';

function needsReasoning({ acceptsReasoning, endpoint }: Upstream): boolean {
  return acceptsReasoning ?? (endpoint !== undefined && thinkingHosts.test(endpoint.hostname));
}

/**
 * Adds placeholders to assistant messages without reasoning if the conversation has calls. Reasoning is missing if another model
 * made the calls, or if the client dropped it.
 */
function addReasoning(messages: Message[]): Message[] {
  const hasCalls = messages.some((message) => getToolCalls(message).length > 0);
  if (!hasCalls || !messages.some(lacksReasoning)) return messages;
  return messages.map((message) => (lacksReasoning(message) ? { ...message, reasoning_content: blankReasoning } : message));
}

function lacksReasoning({ role, reasoning_content: reasoning }: Message): boolean {
  return role === 'assistant' && !reasoning;
}

function removeReasoning(messages: Message[]): Message[] {
  if (messages.every(({ reasoning_content }) => reasoning_content === undefined)) return messages;
  return messages.map(({ reasoning_content: _reasoning, ...message }) => message);
}

/** Requests the token counts of a stream, because a client must not be able to hide its usage. */
function requestUsage(body: JsonObject): JsonObject {
  if (body.stream !== true) return body;
  return { ...body, stream_options: { ...toObject(body.stream_options), include_usage: true } };
}

/** Returns the body of a pass-through form, with the model name of the upstream as its first field. */
function toFormBody(form: FormFields, model: string, defaults: Readonly<Record<string, unknown>>): PassThroughBody {
  const { boundary } = form;
  const first = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`);
  const { pieces, length } = form.open(defaults);
  const body = { pieces: withFirst(first, pieces), length: length === undefined ? undefined : first.length + length };
  return { body, contentType: `multipart/form-data; boundary=${boundary}`, hidesUsage: false };
}

async function* withFirst(first: Uint8Array, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* pieces;
}
