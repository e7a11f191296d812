import { Deferred } from '#base/deferred.ts';
import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import type { JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { toPlainMessages } from '#contract/content.ts';
import type { Frame } from '#contract/frame.ts';
import { type Ask, type ChatProtocol, type EmbeddingsAsk, type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { send, toBytes } from '../send.ts';
import { readChatReply, readEmbeddingsReply } from './read-reply.ts';

type Operation = 'chat/completions' | 'embeddings';

interface Dialect {
  url(upstream: Upstream, operation: Operation): URL;
  /** The header that carries the upstream's key. */
  credentials(key: string): Record<string, string>;
  toBody(request: ChatRequest, upstream: Upstream): JsonObject;
}

/** OpenAI's API and all that speak it: `endpoint` is the base address ending in /v1. */
const openai: Dialect = {
  url: under,
  credentials: (key) => ({ authorization: `Bearer ${key}` }),
  toBody: (request, upstream) => withUsage({ ...toPlainMessages(request), model: upstream.model }),
};

/** Azure's form: `endpoint` ends in /openai/deployments/<name>. */
const azure: Dialect = {
  url(upstream, operation) {
    const url = under(upstream, operation);
    if (upstream.apiVersion !== undefined) url.searchParams.set('api-version', upstream.apiVersion);
    return url;
  },
  credentials: (key) => ({ 'api-key': key }),
  toBody: openai.toBody,
};

/** An application: `endpoint` is the full address, and the body goes as it is. Its per-request key is among the headers. */
const application: Dialect = {
  url: endpointOf,
  credentials: (key) => ({ 'api-key': key }),
  toBody: (request) => request,
};

const dialects = { openai, azure, application };

/** What of a request to one upstream is always the same. */
interface Line {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The lines to upstreams, made once each. */
class Lines {
  readonly #byUpstream = new WeakMap<Upstream, Line>();
  readonly #make: (upstream: Upstream) => Line;

  constructor(make: (upstream: Upstream) => Line) {
    this.#make = make;
  }

  of(upstream: Upstream): Line {
    let line = this.#byUpstream.get(upstream);
    if (line === undefined) {
      line = this.#make(upstream);
      this.#byUpstream.set(upstream, line);
    }
    return line;
  }
}

/** Upstreams that speak the OpenAI chat wire over HTTP. */
export function createOpenAiProtocol(http: HttpClient, name: keyof typeof dialects): ChatProtocol {
  const dialect = dialects[name];
  const linesTo = (operation: Operation, accept: string) =>
    new Lines((upstream) => toLine(dialect, upstream, { operation, accept }));
  const whole = linesTo('chat/completions', 'application/json');
  const streamed = linesTo('chat/completions', 'text/event-stream');
  const embeddings = linesTo('embeddings', 'application/json');
  return {
    hasChoices: true,
    chat(ask: Ask): AsyncIterable<Frame> {
      const { upstream, native, signal } = ask;
      const request = native === undefined ? ask.request : withoutThoughts(ask.request);
      const lines = request.stream === true ? streamed : whole;
      const sent = toRequest(lines.of(upstream), ask, dialect.toBody(request, upstream));
      return new Deferred(send(http, sent, signal).then(readChatReply));
    },
    async embed(ask: EmbeddingsAsk): Promise<JsonObject> {
      const { upstream, request, signal } = ask;
      const body = { ...request, model: upstream.model };
      return await readEmbeddingsReply(await send(http, toRequest(embeddings.of(upstream), ask, body), signal));
    },
  };
}

function toLine(dialect: Dialect, upstream: Upstream, { operation, accept }: { operation: Operation; accept: string }): Line {
  const credentials = upstream.key === undefined ? {} : dialect.credentials(upstream.key.reveal());
  return {
    url: dialect.url(upstream, operation),
    headers: { 'content-type': 'application/json', accept, ...upstream.headers, ...credentials },
  };
}

function toRequest({ url, headers }: Line, ask: Pick<Ask, 'upstream' | 'headers'>, body: JsonObject): HttpRequest {
  const { timeouts } = ask.upstream;
  return { method: 'POST', url, headers: { ...headers, ...ask.headers }, body: toBytes(body), timeouts };
}

function endpointOf(upstream: Upstream): URL {
  if (upstream.endpoint === undefined) throw new UpstreamFault('broken', 'The upstream has no endpoint.');
  return upstream.endpoint;
}

function under(upstream: Upstream, operation: Operation): URL {
  const url = new URL(endpointOf(upstream));
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${operation}`;
  return url;
}

/** A caller of the messages dialect sends along what models have thought and signed; OpenAI's API refuses the field. */
function withoutThoughts(request: ChatRequest): ChatRequest {
  const messages = request.messages.map(({ thinking_blocks: _thoughts, ...message }) => message);
  return { ...request, messages };
}

/** Asks a stream for its token counts, unless the caller said what it wants. */
function withUsage(body: JsonObject): JsonObject {
  if (body.stream !== true || body.stream_options !== undefined) return body;
  return { ...body, stream_options: { include_usage: true } };
}
