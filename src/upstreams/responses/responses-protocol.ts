import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import { joinPath } from '#base/http/url-path.ts';
import type { JsonObject } from '#base/json/json.ts';
import { toBody } from '#base/json/raw-json.ts';
import type { Clock } from '#base/time/clock.ts';
import { type Attempt, type ChatProtocol, requireEndpoint, type Upstream } from '#domain/upstreams/upstream.ts';
import { sendForReply } from '../upstream-reply.ts';
import { createRelayedDialect, createTranslatedDialect, type ReadErrorReply } from './read-reply.ts';
import { listIgnoredFields, toResponsesRequest } from './to-responses-request.ts';

/**
 * Creates the protocol for upstreams that speak the Responses API over HTTP. Requests in the dialect are relayed. Requests in
 * another dialect are translated.
 */
export function createResponsesProtocol(
  http: HttpClient,
  clock: Pick<Clock, 'epochMs'>,
  readErrorReply: ReadErrorReply,
): ChatProtocol {
  const relayed = createRelayedDialect(readErrorReply);
  return {
    supportsSeveralChoices: false,
    chat(attempt, reply) {
      const { upstream, request, nativeRequest, onIgnored } = attempt;
      const model = getModel(upstream);
      if (nativeRequest?.dialect === 'responses')
        return sendForReply(http, toRequest(attempt, { ...nativeRequest.body, model }), {
          dialect: relayed,
          attempt,
          sink: reply,
        });
      onIgnored?.(listIgnoredFields(request));
      const dialect = createTranslatedDialect(readErrorReply, { createdSeconds: Math.floor(clock.epochMs() / 1000), model });
      return sendForReply(http, toRequest(attempt, toResponsesRequest(request, model)), { dialect, attempt, sink: reply });
    },
  };
}

function toRequest({ upstream, headers }: Attempt, body: JsonObject): HttpRequest {
  const accept = body.stream === true ? 'text/event-stream' : 'application/json';
  return {
    method: 'POST',
    url: toUrl(upstream),
    headers: { 'content-type': 'application/json', accept, ...upstream.headers, ...getCredentials(upstream), ...headers },
    body: toBody(body),
    timeouts: upstream.timeouts,
  };
}

function getCredentials({ key, protocol }: Upstream): Record<string, string> {
  if (key === undefined) return {};
  return protocol === 'azure' ? { 'api-key': key.reveal() } : { authorization: `Bearer ${key.reveal()}` };
}

const azureDeployment = /^(.*\/openai)\/deployments\/([^/]+)\/?$/;

/** Azure serves the dialect outside of the deployment paths. The deployment name is in the body. */
function toUrl(upstream: Upstream): URL {
  const endpoint = requireEndpoint(upstream);
  const [, base] = upstream.protocol === 'azure' ? (azureDeployment.exec(endpoint.pathname) ?? []) : [];
  if (base === undefined) return joinPath(endpoint, 'responses');
  const url = new URL(endpoint);
  url.pathname = `${base}/v1/responses`;
  return url;
}

function getModel({ model, endpoint, protocol }: Upstream): string {
  const [, , name] = protocol === 'azure' ? (azureDeployment.exec(endpoint?.pathname ?? '') ?? []) : [];
  return name === undefined ? model : decodeURIComponent(name);
}
