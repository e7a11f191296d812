import type { Clock } from '#base/clock.ts';
import { Deferred } from '#base/deferred.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import type { JsonObject } from '#base/json.ts';
import type { Frame } from '#contract/frame.ts';
import { type Ask, type ChatProtocol, type Upstream, UpstreamFault } from '#domain/upstream.ts';
import { send, toBytes } from '../send.ts';
import { readCount, readRelayed, readTranslated } from './read-reply.ts';
import { toHeaders } from './to-headers.ts';
import { toMessagesRequest } from './to-messages-request.ts';

type Operation = 'messages' | 'messages/count_tokens';

/**
 * Upstreams that speak the Messages dialect over HTTP: `endpoint` is the base address ending in /v1. They are asked for a
 * stream where the caller wants one: a whole reply has a status of its own, and costs one parse.
 */
export function createAnthropicProtocol(http: HttpClient, clock: Pick<Clock, 'epochMs'>): ChatProtocol {
  const ask = (asked: Ask, operation: Operation, body: JsonObject): Promise<HttpReply> => {
    const { upstream, signal } = asked;
    const headers = toHeaders(asked, body.stream === true);
    const url = toUrl(upstream, operation);
    return send(http, { method: 'POST', url, headers, body: toBytes(body), timeouts: upstream.timeouts }, signal);
  };
  const relay = async (asked: Ask, body: JsonObject): Promise<AsyncIterable<Frame>> =>
    readRelayed(await ask(asked, 'messages', body));
  const translate = async (asked: Ask): Promise<AsyncIterable<Frame>> => {
    const { request, upstream, maxCompletionTokens } = asked;
    const { model } = upstream;
    const body = toMessagesRequest(request, { model, maxCompletionTokens });
    return readTranslated(await ask(asked, 'messages', body), Math.floor(clock.epochMs() / 1000), model);
  };
  return {
    hasChoices: false,
    chat(asked: Ask): AsyncIterable<Frame> {
      const body = nativeBody(asked);
      return new Deferred(body === undefined ? translate(asked) : relay(asked, body));
    },
    async countTokens(asked: Ask): Promise<number> {
      const body = nativeBody(asked);
      if (body === undefined) throw new UpstreamFault('broken', 'Tokens are counted of a request in the Messages dialect only.');
      return readCount(await ask(asked, 'messages/count_tokens', body));
    },
  };
}

/** The caller's own body with the upstream's name of the model; undefined where the caller speaks another dialect. */
function nativeBody({ native, upstream }: Ask): JsonObject | undefined {
  return native?.dialect === 'messages' ? { ...native.body, model: upstream.model } : undefined;
}

function toUrl({ endpoint }: Upstream, operation: Operation): URL {
  if (endpoint === undefined) throw new UpstreamFault('broken', 'The upstream has no endpoint.');
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${operation}`;
  return url;
}
