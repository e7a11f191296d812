import type { LookupFunction } from 'node:net';
import { type Exchange, type HttpClient, HttpFault, type HttpRequest, type ReplyListener } from '../http/client.ts';
import { AddressRefused, type NetGuard } from './net-guard.ts';

/**
 * A client that cannot be led to a refused address: each request's address is checked, and each connection goes to an
 * address that was checked. `makeClient` must use the lookup it is given. A refusal is an HttpFault `unsendable`.
 */
export function guardClient(guard: NetGuard, makeClient: (lookup: LookupFunction) => HttpClient): HttpClient {
  const client = makeClient(guard.lookup);
  return {
    send(request, listener) {
      const refused = refusalOf(guard, request);
      return refused === null ? client.send(request, new ExplainingListener(listener)) : failed(listener, refused);
    },
    close: () => client.close(),
  };
}

function refusalOf(guard: NetGuard, request: HttpRequest): HttpFault | null {
  try {
    guard.checkUrl(request.url);
    return null;
  } catch (thrown) {
    return toFault(thrown) ?? new HttpFault('unsendable', 'the address cannot be checked', thrown);
  }
}

function failed(listener: ReplyListener, fault: HttpFault): Exchange {
  let isOver = false;
  process.nextTick(() => {
    if (!isOver) listener.fail(fault);
  });
  const cancel = (): void => {
    isOver = true;
  };
  const ignore = (): void => undefined;
  return { pause: ignore, resume: ignore, endWithin: ignore, cancel };
}

/** Says why if the connection failed because of the guard. */
class ExplainingListener implements ReplyListener {
  readonly #listener: ReplyListener;

  constructor(listener: ReplyListener) {
    this.#listener = listener;
  }

  head: ReplyListener['head'] = (status, headers) => this.#listener.head(status, headers);
  bytes: ReplyListener['bytes'] = (text) => this.#listener.bytes(text);
  end: ReplyListener['end'] = () => this.#listener.end();
  fail: ReplyListener['fail'] = (fault) => this.#listener.fail(toFault(fault) ?? fault);
}

function toFault(thrown: unknown): HttpFault | undefined {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return new HttpFault('unsendable', cause.message, thrown);
  }
  return undefined;
}
