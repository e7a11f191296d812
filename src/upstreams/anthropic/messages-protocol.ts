import type { Clock } from '#base/clock.ts';
import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import type { JsonObject } from '#base/json.ts';
import { LateHandle } from '#base/late-handle.ts';
import type { Handle, Sink } from '#base/sink.ts';
import { toBody } from '#base/written-json.ts';
import { type Ask, type ChatProtocol, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { type ReplyDialect, sendForReply } from '../upstream-reply.ts';
import { ignoredFields } from './ignored-fields.ts';
import { countReply, relayedReply, translatedReply } from './read-reply.ts';
import { toMessagesRequest } from './to-messages-request.ts';

export type Operation = 'messages' | 'messages/count_tokens';

/** Where a request of the dialect goes, and as what. */
interface Address {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

export interface MessagesProtocolDeps {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'epochMs'>;
  /** How one kind of endpoint is asked, at once or by a function that waits for a token. Throws UpstreamFault. */
  readonly address: (ask: Ask, operation: Operation, body: JsonObject) => Address | ((signal: AbortSignal) => Promise<Address>);
}

/**
 * Upstreams that speak the Messages dialect over HTTP: callers of it are relayed, all others translated. They are asked for a
 * stream if the caller wants one: a whole reply has a status of its own, and costs one parse.
 */
export function createMessagesProtocol({
  http,
  clock,
  address,
}: MessagesProtocolDeps): Required<Omit<ChatProtocol, 'embed' | 'passThrough'>> {
  const send = <Item>(ask: Ask, operation: Operation, sending: Sending<Item>): Handle => {
    const { body, dialect, reply } = sending;
    const sendTo = (to: Address): Handle => sendForReply(http, toRequest(ask, to), dialect, reply);
    const to = address(ask, operation, body);
    if (typeof to !== 'function') return sendTo(to);
    const late = new LateHandle();
    late.startAfter(to, sendTo, (error) => reply.fail(error));
    return late;
  };
  return {
    hasChoices: false,
    chat(ask, reply) {
      const native = nativeBody(ask);
      if (native !== undefined) return send(ask, 'messages', { body: native, dialect: relayedReply, reply });
      const { request, upstream, maxCompletionTokens, noteIgnored } = ask;
      const { model } = upstream;
      const body = toMessagesRequest(request, { model, maxCompletionTokens });
      noteIgnored?.(ignoredFields(request, body));
      return send(ask, 'messages', { body, dialect: translatedReply(Math.floor(clock.epochMs() / 1000), model), reply });
    },
    countTokens(ask, reply) {
      const body = nativeBody(ask);
      if (body === undefined) throw new UpstreamFault('broken', 'Tokens are counted of a request in the Messages dialect only.');
      return send(ask, 'messages/count_tokens', { body, dialect: countReply, reply });
    },
  };
}

interface Sending<Item> {
  readonly body: JsonObject;
  readonly dialect: ReplyDialect<Item>;
  readonly reply: Sink<Item>;
}

function toRequest({ upstream }: Ask, { url, headers, body }: Address): HttpRequest {
  return { method: 'POST', url, headers, body: toBody(body), timeouts: upstream.timeouts };
}

/** The caller's own body with the upstream's name of the model; undefined if the caller speaks another dialect. */
function nativeBody({ native, upstream }: Ask): JsonObject | undefined {
  return native?.dialect === 'messages' ? { ...native.body, model: upstream.model } : undefined;
}
