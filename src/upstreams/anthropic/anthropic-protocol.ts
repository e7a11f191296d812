import type { HttpClient } from '#base/http/client.ts';
import { joinPath } from '#base/http/url-path.ts';
import type { Clock } from '#base/time/clock.ts';
import { type Attempt, type ChatProtocol, type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { createMessagesProtocol, type Operation } from './messages-protocol.ts';

const version = '2023-06-01';
const betaName = /^[\w.-]+$/;

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
      return { url: toUrl(attempt.upstream, operation), headers, body };
    },
  });
}

function toUrl({ endpoint }: Upstream, operation: Operation): URL {
  if (endpoint === undefined) throw new UpstreamError('broken', 'The upstream has no endpoint.');
  return joinPath(endpoint, operation);
}

interface HeaderParts {
  readonly isStreamed: boolean;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Returns the headers of a request. Configured headers replace the client's, except for betas, which are combined. */
export function toHeaders(
  { upstream, request, native, headers }: Attempt,
  { isStreamed, credentials }: HeaderParts,
): Record<string, string> {
  const configured = lowerCaseNames(upstream.headers);
  const clientHeaders = native?.headers ?? {};
  const betas = [
    configured['anthropic-beta'],
    clientHeaders['anthropic-beta'],
    ...(native === undefined ? getBetas(request.betas) : []),
  ];
  const beta = betas.filter(Boolean).join(',');
  return {
    'content-type': 'application/json',
    'anthropic-version': version,
    ...clientHeaders,
    ...(upstream.apiVersion !== undefined && { 'anthropic-version': upstream.apiVersion }),
    ...credentials,
    ...configured,
    ...headers,
    accept: isStreamed ? 'text/event-stream' : 'application/json',
    ...(beta !== '' && { 'anthropic-beta': beta }),
  };
}

function getBetas(betas: unknown): string[] {
  return Array.isArray(betas) ? betas.filter((beta) => typeof beta === 'string' && betaName.test(beta)) : [];
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
