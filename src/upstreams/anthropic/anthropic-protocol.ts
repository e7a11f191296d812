import type { HttpClient } from '#base/http/client.ts';
import { joinPath } from '#base/http/url-path.ts';
import type { Clock } from '#base/time/clock.ts';
import { type ChatProtocol, type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { createMessagesProtocol, type Operation } from './messages-protocol.ts';
import { toHeaders } from './to-headers.ts';

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
