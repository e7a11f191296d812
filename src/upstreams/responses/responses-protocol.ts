import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import { joinPath } from '#base/http/url-path.ts';
import type { JsonObject } from '#base/json/json.ts';
import { toBody } from '#base/json/raw-json.ts';
import type { Clock } from '#base/time/clock.ts';
import { type Ask, type ChatProtocol, type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { sendForReply } from '../upstream-reply.ts';
import { type ReadRefusal, relayedReply, translatedReply } from './read-reply.ts';
import { ignoredFields, toResponsesRequest } from './to-responses-request.ts';

/** Upstreams that speak the Responses API over HTTP: callers of it are relayed, all others translated. */
export function createResponsesProtocol(http: HttpClient, clock: Pick<Clock, 'epochMs'>, readRefusal: ReadRefusal): ChatProtocol {
  const relayed = relayedReply(readRefusal);
  return {
    hasChoices: false,
    chat(ask, reply) {
      const { upstream, request, native, noteIgnored } = ask;
      const model = modelOf(upstream);
      if (native?.dialect === 'responses') return sendForReply(http, toRequest(ask, { ...native.body, model }), relayed, reply);
      noteIgnored?.(ignoredFields(request));
      const translated = translatedReply(readRefusal, { createdSeconds: Math.floor(clock.epochMs() / 1000), model });
      return sendForReply(http, toRequest(ask, toResponsesRequest(request, model)), translated, reply);
    },
  };
}

function toRequest({ upstream, headers }: Ask, body: JsonObject): HttpRequest {
  const accept = body.stream === true ? 'text/event-stream' : 'application/json';
  return {
    method: 'POST',
    url: toUrl(upstream),
    headers: { 'content-type': 'application/json', accept, ...upstream.headers, ...credentialsOf(upstream), ...headers },
    body: toBody(body),
    timeouts: upstream.timeouts,
  };
}

function credentialsOf({ key, protocol }: Upstream): Record<string, string> {
  if (key === undefined) return {};
  return protocol === 'azure' ? { 'api-key': key.reveal() } : { authorization: `Bearer ${key.reveal()}` };
}

const azureDeployment = /^(.*\/openai)\/deployments\/([^/]+)\/?$/;

/** Azure serves the dialect beside its deployments, whose name then stands in the body. */
function toUrl({ endpoint, protocol }: Upstream): URL {
  if (endpoint === undefined) throw new UpstreamFault('broken', 'The upstream has no endpoint.');
  const [, base] = protocol === 'azure' ? (azureDeployment.exec(endpoint.pathname) ?? []) : [];
  if (base === undefined) return joinPath(endpoint, 'responses');
  const url = new URL(endpoint);
  url.pathname = `${base}/v1/responses`;
  return url;
}

function modelOf({ model, endpoint, protocol }: Upstream): string {
  const [, , name] = protocol === 'azure' ? (azureDeployment.exec(endpoint?.pathname ?? '') ?? []) : [];
  return name === undefined ? model : decodeURIComponent(name);
}
