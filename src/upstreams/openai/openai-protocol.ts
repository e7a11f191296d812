import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import type { JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { toPlainMessages } from '#contract/content.ts';
import type { Frame } from '#contract/frame.ts';
import { type Ask, type ChatProtocol, type EmbeddingsAsk, type Upstream, UpstreamFault } from '#domain/upstream.ts';
import { readChatReply, readJsonReply } from './read-reply.ts';
import { send } from './send.ts';

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

/** Addresses of upstreams, made once each. */
class Addresses {
  readonly #byUpstream = new WeakMap<Upstream, URL>();
  readonly #make: (upstream: Upstream) => URL;

  constructor(make: (upstream: Upstream) => URL) {
    this.#make = make;
  }

  of(upstream: Upstream): URL {
    let url = this.#byUpstream.get(upstream);
    if (url === undefined) {
      url = this.#make(upstream);
      this.#byUpstream.set(upstream, url);
    }
    return url;
  }
}

/** Upstreams that speak the OpenAI chat wire over HTTP. */
export function createOpenAiProtocol(http: HttpClient, name: keyof typeof dialects): ChatProtocol {
  const dialect = dialects[name];
  const chatAddresses = new Addresses((upstream) => dialect.url(upstream, 'chat/completions'));
  const embeddingsAddresses = new Addresses((upstream) => dialect.url(upstream, 'embeddings'));
  return {
    hasChoices: true,
    async *chat(ask: Ask): AsyncIterable<Frame> {
      const { upstream, request, signal } = ask;
      const accept = request.stream === true ? 'text/event-stream' : 'application/json';
      const sending = { ...ask, accept, url: chatAddresses.of(upstream), body: dialect.toBody(request, upstream) };
      const reply = await send(http, toRequest(dialect, sending), signal);
      yield* readChatReply(reply);
    },
    async embed(ask: EmbeddingsAsk): Promise<JsonObject> {
      const { upstream, request, signal } = ask;
      const body = { ...request, model: upstream.model };
      const sending = { ...ask, accept: 'application/json', url: embeddingsAddresses.of(upstream), body };
      const reply = await send(http, toRequest(dialect, sending), signal);
      return await readJsonReply(reply);
    },
  };
}

interface Sending {
  readonly upstream: Upstream;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly body: JsonObject;
}

function toRequest(dialect: Dialect, { upstream, url, headers, accept, body }: Sending): HttpRequest {
  const credentials = upstream.key === undefined ? {} : dialect.credentials(upstream.key.reveal());
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept, ...upstream.headers, ...credentials, ...headers },
    body: Buffer.from(JSON.stringify(body)),
    timeouts: upstream.timeouts,
  };
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

/** Asks a stream for its token counts, unless the caller said what it wants. */
function withUsage(body: JsonObject): JsonObject {
  if (body.stream !== true || body.stream_options !== undefined) return body;
  return { ...body, stream_options: { include_usage: true } };
}
