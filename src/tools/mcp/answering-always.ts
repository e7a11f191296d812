import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Fetch } from '#base/net/guarded-fetch.ts';
import { brokenOffCode, unansweredCode } from './server-fault.ts';

type Transport = Parameters<Client['connect']>[0];
type RequestId = string | number | undefined;

const maxErrorBytes = 4096;

interface Exchange {
  readonly id: RequestId;
  isWhole: boolean;
}

/** Knows of each message that is sent whether the reply to it came in one piece: the SDK does not tell. */
export class WholeReplies {
  readonly #fetch: Fetch;
  readonly #exchanges = new AsyncLocalStorage<Exchange>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** To be used by the transport whose messages these are. */
  readonly fetch: Fetch = async (url, init) => {
    const response = await this.#fetch(url, init);
    const exchange = this.#exchanges.getStore();
    // A server that only took the message in, with 202, may answer on the common stream.
    if (exchange === undefined) return response;
    exchange.isWhole = response.status !== 202 && /^application\/json\b/i.test(response.headers.get('content-type') ?? '');
    return exchange.isWhole && response.status === 200 ? withErrorId(response, exchange.id) : response;
  };

  /** Returns whether the complete reply to the message of `send` had arrived when `send` resolved. `id` is the request ID. */
  async follow(id: RequestId, send: () => Promise<void>): Promise<boolean> {
    const exchange: Exchange = { id, isWhole: false };
    await this.#exchanges.run(exchange, send);
    return exchange.isWhole;
  }
}

/** An error without an ID answers the request that it is the reply to. The SDK refuses to read it. */
async function withErrorId(response: Response, id: RequestId): Promise<Response> {
  const { headers, status } = response;
  if (id === undefined || !(Number(headers.get('content-length') ?? Number.NaN) <= maxErrorBytes)) return response;
  const text = await response.text();
  const message = tryParseJson(text);
  const lacksId = isJsonObject(message) && isJsonObject(message.error) && (message.id ?? undefined) === undefined;
  return new Response(lacksId ? JSON.stringify({ ...message, id }) : text, { status, headers });
}

/** Answers a request whose reply ended without an answer, in events or in one piece: the SDK would leave it waiting. It passes over a second answer. */
export function answeringAlways(transport: StreamableHTTPClientTransport, replies: WholeReplies): Transport {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const answer = (code: number): void => {
      if (Array.isArray(message) || !('method' in message) || !('id' in message)) return;
      transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error: { code, message: 'the reply ended without an answer' } });
    };
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      answer(brokenOffCode);
    };
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    if (await replies.follow(id, () => send(message, { ...options, onRequestStreamEnd }))) answer(unansweredCode);
  };
  return transport;
}
