import type { HttpBody, HttpClient, HttpRequest, StreamedBody } from '#base/http/client.ts';
import { addQuery, joinPath } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { toBody } from '#base/json/raw-json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainMessages } from '#contract/chat/content.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { withJoinedUserMessages, withLeadingInstructions } from '#contract/chat/leading-instructions.ts';
import { type Message, refusedInNames, toolCallsOf, withReducedNames } from '#contract/chat/message.ts';
import { type PassThroughApi, passThroughApis } from '#contract/pass-through.ts';
import { takesReasoning } from '#domain/upstreams/lost-thoughts.ts';
import {
  type Ask,
  type ChatProtocol,
  type FormFields,
  type NativeRequest,
  type PassThroughRequest,
  type Upstream,
  type UpstreamApi,
  UpstreamFault,
} from '#domain/upstreams/upstream.ts';
import { type ReplyDialect, sendForReply } from '../upstream-reply.ts';
import { chatReply } from './chat-reply.ts';
import { passedReply } from './passed-reply.ts';
import { embeddingsReply } from './read-reply.ts';

type Operation = 'chat/completions' | 'embeddings' | PassThroughApi;

interface Dialect {
  url(upstream: Upstream, operation: Operation): URL;
  /** The header that carries the upstream's key. */
  credentials(key: string): Record<string, string>;
  toBody(request: ChatRequest, upstream: Upstream, isTranslated: boolean): JsonObject;
  toEmbeddingsBody(request: EmbeddingsRequest, upstream: Upstream): JsonObject;
}

/** OpenAI's API and all that speak it: `endpoint` is the base address ending in /v1. */
const openai: Dialect = {
  url: under,
  credentials: (key) => ({ authorization: `Bearer ${key}` }),
  toBody: (request, upstream, isTranslated) =>
    withUsage({ ...toStrictMessages(toPlainMessages(request), upstream, isTranslated), model: upstream.model }),
  toEmbeddingsBody: (request, upstream) => ({ ...request, model: upstream.model }),
};

/** Azure's form: `endpoint` ends in /openai/deployments/<name>. */
const azure: Dialect = {
  url(upstream, operation) {
    const url = under(upstream, operation);
    if (upstream.apiVersion !== undefined) url.searchParams.set('api-version', upstream.apiVersion);
    return url;
  },
  credentials: (key) => ({ 'api-key': key }),
  toBody: (request, upstream, isTranslated) => openai.toBody(withNames(request, refusedInNames.azure), upstream, isTranslated),
  toEmbeddingsBody: openai.toEmbeddingsBody,
};

/** An application: `endpoint` is the full address, and the body goes as it is, but for the token counts that a stream is asked for. */
const application: Dialect = {
  url: endpointOf,
  credentials: (key) => ({ 'api-key': key }),
  toBody: (request) => withUsage(withNames(request, refusedInNames.application)),
  toEmbeddingsBody: (request) => request,
};

/** An adapter of the family: the same, and nothing is added to the body. */
const dial: Dialect = {
  ...application,
  toBody: (request) => withNames(request, refusedInNames.application),
};

const dialects = { openai, azure, application, dial };

/** The part of a request that is the same for every call to one upstream. */
interface RequestBase {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The bases of requests to upstreams, made once each. */
class RequestBases extends WeakMap<Upstream, RequestBase> {
  readonly #make: (upstream: Upstream) => RequestBase;

  constructor(make: (upstream: Upstream) => RequestBase) {
    super();
    this.#make = make;
  }

  add(upstream: Upstream): RequestBase {
    const base = this.#make(upstream);
    this.set(upstream, base);
    return base;
  }
}

/** Upstreams that speak the OpenAI chat wire over HTTP; `responses` speaks to those that serve the Responses API. */
export function createOpenAiProtocol(http: HttpClient, name: keyof typeof dialects, responses?: ChatProtocol): ChatProtocol {
  const dialect = dialects[name];
  const basesFor = (operation: Operation, accept: string) =>
    new RequestBases((upstream) => toBase(dialect, upstream, { operation, accept }));
  const whole = basesFor('chat/completions', 'application/json');
  const streamed = basesFor('chat/completions', 'text/event-stream');
  const embeddings = basesFor('embeddings', 'application/json');
  const others = Object.fromEntries(passThroughApis.map((api) => [api, basesFor(api, '*/*')])) as Record<
    PassThroughApi,
    RequestBases
  >;
  return {
    hasChoices: true,
    chat(ask, reply) {
      const { upstream, native, isTranslated = false } = ask;
      const { apis } = upstream;
      if (apis !== undefined && responses !== undefined && isForResponses(apis, native)) return responses.chat(ask, reply);
      const request = native === undefined ? ask.request : withoutThoughts(ask.request);
      const bases = request.stream === true ? streamed : whole;
      const sent = toRequest(
        bases.get(upstream) ?? bases.add(upstream),
        ask,
        toBody(dialect.toBody(request, upstream, isTranslated)),
      );
      return sendForReply(http, sent, ask.noteHeaders === undefined ? chatReply : noting(chatReply, ask), reply);
    },
    embed(ask, reply) {
      const { upstream, request } = ask;
      const sent = toRequest(
        embeddings.get(upstream) ?? embeddings.add(upstream),
        ask,
        toBody(dialect.toEmbeddingsBody(request, upstream)),
      );
      return sendForReply(http, sent, noting(embeddingsReply, ask), reply);
    },
    passThrough(ask, reply) {
      const { upstream, request } = ask;
      const { body, contentType, hidesUsage } = toPassed(request, upstream);
      const base = others[request.api].get(upstream) ?? others[request.api].add(upstream);
      const sent = toRequest({ ...base, headers: { ...base.headers, 'content-type': contentType } }, ask, body);
      return sendForReply(http, { ...sent, isOnce: true }, noting(passedReply(request, hidesUsage), ask), reply);
    },
  };
}

/** Of an upstream that serves the Responses API: whether it is asked there. It is asked in the dialect of its caller if it speaks that. */
function isForResponses(apis: readonly UpstreamApi[], native: NativeRequest | undefined): boolean {
  return apis.includes('responses') && (native?.dialect === 'responses' || !apis.includes('chat'));
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

function toRequest(base: RequestBase, ask: Pick<Ask, 'upstream' | 'headers' | 'query'>, body: HttpBody): HttpRequest {
  const { timeouts } = ask.upstream;
  const url = ask.query ? addQuery(base.url, ask.query) : base.url;
  return { method: 'POST', url, headers: { ...base.headers, ...ask.headers }, body, timeouts };
}

interface Passed {
  readonly body: HttpBody;
  readonly contentType: string;
  /** Whether the caller of a stream did not ask for the usage, which the upstream is always asked for. */
  readonly hidesUsage: boolean;
}

/** A request as it came, with the upstream's own name of the model. */
function toPassed(request: PassThroughRequest, { model }: Upstream): Passed {
  if ('form' in request) return { ...toFormBody(request.form, model, request.defaults), hidesUsage: false };
  const { api, body } = request;
  const named = { ...body, model };
  const sent = api === 'completions' ? withUsage(named) : named;
  const { stream_options: options } = body;
  const hidesUsage = sent !== named && !(isJsonObject(options) && options.include_usage === true);
  return { body: toBody(sent), contentType: 'application/json', hidesUsage };
}

/** The same, with somebody who is told the header fields. */
function noting<Item>(dialect: ReplyDialect<Item>, { noteHeaders }: Pick<Ask, 'noteHeaders'>): ReplyDialect<Item> {
  return noteHeaders === undefined ? dialect : { ...dialect, noteHeaders };
}

function endpointOf(upstream: Upstream): URL {
  if (upstream.endpoint === undefined) throw new UpstreamFault('broken', 'The upstream has no endpoint.');
  return upstream.endpoint;
}

function under(upstream: Upstream, operation: Operation): URL {
  return joinPath(endpointOf(upstream), operation);
}

/** A caller of the messages dialect sends along what models have thought and signed; OpenAI's API refuses the field. */
function withoutThoughts(request: ChatRequest): ChatRequest {
  const messages = request.messages.map(({ thinking_blocks: _thoughts, ...message }) => message);
  return { ...request, messages };
}

/**
 * Returns the request with messages that strict servers accept, as far as the upstream is configured to be one. Only messages
 * that are translated are joined: a chat client chose its own.
 */
function toStrictMessages(request: ChatRequest, upstream: Upstream, isTranslated: boolean): ChatRequest {
  const thinking = takesReasoning(upstream) ? request.messages : withoutReasoning(request.messages);
  const plain = needsReasoning(upstream) ? withReasoning(thinking) : thinking;
  const folded = upstream.keepsSystemMessages === true ? plain : withLeadingInstructions(plain);
  const messages = isTranslated && upstream.keepsSystemMessages !== true ? withJoinedUserMessages(folded) : folded;
  return messages === request.messages ? request : { ...request, messages };
}

function withNames(request: ChatRequest, refused: RegExp): ChatRequest {
  const messages = withReducedNames(request.messages, refused);
  return messages === request.messages ? request : { ...request, messages };
}

/** Hosts of vendors that reject a conversation with calls if an assistant message has no thoughts. */
const thinkingHosts = /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn))$/;

/** Stands for thoughts that do not exist. DeepSeek rejects an empty text. */
const blankThoughts = ' ';

function needsReasoning({ acceptsReasoning, endpoint }: Upstream): boolean {
  return acceptsReasoning ?? (endpoint !== undefined && thinkingHosts.test(endpoint.hostname));
}

/** Gives each assistant message thoughts if there are calls. Another model may have made the calls, or the client lost the thoughts. */
function withReasoning(messages: Message[]): Message[] {
  const hasCalls = messages.some((message) => toolCallsOf(message).length > 0);
  if (!hasCalls || !messages.some(lacksReasoning)) return messages;
  return messages.map((message) => (lacksReasoning(message) ? { ...message, reasoning_content: blankThoughts } : message));
}

function lacksReasoning({ role, reasoning_content: thoughts }: Message): boolean {
  return role === 'assistant' && !thoughts;
}

function withoutReasoning(messages: Message[]): Message[] {
  if (messages.every(({ reasoning_content }) => reasoning_content === undefined)) return messages;
  return messages.map(({ reasoning_content: _reasoning, ...message }) => message);
}

/** Asks a stream for its token counts, whatever the caller says: what it uses is not for the caller to hide. */
function withUsage(body: JsonObject): JsonObject {
  if (body.stream !== true) return body;
  const options = isJsonObject(body.stream_options) ? body.stream_options : {};
  return { ...body, stream_options: { ...options, include_usage: true } };
}

interface FormBody {
  readonly body: StreamedBody;
  readonly contentType: string;
}

/** A form that is passed through, with the upstream's own name of the model as its first field. */
function toFormBody(form: FormFields, model: string, defaults: Readonly<Record<string, unknown>>): FormBody {
  const { boundary } = form;
  const first = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`);
  const { pieces, length } = form.open(defaults);
  const body = { pieces: withFirst(first, pieces), length: length === undefined ? undefined : first.length + length };
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

async function* withFirst(first: Uint8Array, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* pieces;
}
