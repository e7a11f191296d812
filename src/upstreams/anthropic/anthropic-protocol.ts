import type { HttpClient } from '#base/http/client.ts';
import { joinPath } from '#base/http/url-path.ts';
import type { Clock } from '#base/time/clock.ts';
import { type Ask, type ChatProtocol, type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { createMessagesProtocol, type Operation } from './messages-protocol.ts';

const version = '2023-06-01';
const betaName = /^[\w.-]+$/;

/** Upstreams with the address and the credentials of Anthropic's API: `endpoint` is the base address ending in /v1. */
export function createAnthropicProtocol(http: HttpClient, clock: Pick<Clock, 'epochMs'>): ChatProtocol {
  return createMessagesProtocol({
    http,
    clock,
    address(asked, operation, body) {
      const { key } = asked.upstream;
      const credentials: Record<string, string> = key === undefined ? {} : { 'x-api-key': key.reveal() };
      const headers = toHeaders(asked, { isStreamed: body.stream === true, credentials });
      return { url: toUrl(asked.upstream, operation), headers, body };
    },
  });
}

function toUrl({ endpoint }: Upstream, operation: Operation): URL {
  if (endpoint === undefined) throw new UpstreamFault('broken', 'The upstream has no endpoint.');
  return joinPath(endpoint, operation);
}

interface HeaderParts {
  readonly isStreamed: boolean;
  readonly credentials: Readonly<Record<string, string>>;
}

/** The header fields of a request. What the configuration names wins over what the caller asked for, but for the betas, which add up. */
export function toHeaders(
  { upstream, request, native, headers }: Ask,
  { isStreamed, credentials }: HeaderParts,
): Record<string, string> {
  const configured = withLowerNames(upstream.headers);
  const asked = native?.headers ?? {};
  const betas = [configured['anthropic-beta'], asked['anthropic-beta'], ...(native === undefined ? betasOf(request.betas) : [])];
  const beta = betas.filter(Boolean).join(',');
  return {
    'content-type': 'application/json',
    'anthropic-version': version,
    ...asked,
    ...(upstream.apiVersion !== undefined && { 'anthropic-version': upstream.apiVersion }),
    ...credentials,
    ...configured,
    ...headers,
    accept: isStreamed ? 'text/event-stream' : 'application/json',
    ...(beta !== '' && { 'anthropic-beta': beta }),
  };
}

function betasOf(betas: unknown): string[] {
  return Array.isArray(betas) ? betas.filter((beta) => typeof beta === 'string' && betaName.test(beta)) : [];
}

function withLowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
