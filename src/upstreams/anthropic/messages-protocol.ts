import type { Clock } from '#base/clock.ts';
import { Deferred } from '#base/deferred.ts';
import type { HttpClient } from '#base/http/client.ts';
import type { HttpReply } from '#base/http/read-reply.ts';
import type { JsonObject } from '#base/json.ts';
import type { Frame } from '#contract/frame.ts';
import { type Ask, type ChatProtocol, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { send, toBytes } from '../send.ts';
import { readCount, readRelayed, readTranslated } from './read-reply.ts';
import { toMessagesRequest } from './to-messages-request.ts';

export type Operation = 'messages' | 'messages/count_tokens';

/** Where a request of the dialect goes, and as what. */
interface Sent {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

interface MessagesTools {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** How one kind of endpoint is asked. Throws UpstreamFault. */
  readonly address: (asked: Ask, operation: Operation, body: JsonObject) => Sent | Promise<Sent>;
}

/**
 * Upstreams that speak the Messages dialect over HTTP: callers of it are relayed, all others translated. They are asked for a
 * stream where the caller wants one: a whole reply has a status of its own, and costs one parse.
 */
export function createMessagesProtocol({ http, clock, address }: MessagesTools): Required<Omit<ChatProtocol, 'embed'>> {
  const ask = async (asked: Ask, operation: Operation, given: JsonObject): Promise<HttpReply> => {
    const { upstream, signal } = asked;
    const { url, headers, body } = await address(asked, operation, given);
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
