import type { LookupFunction } from 'node:net';
import { type Exchange, type HttpClient, HttpError, type HttpRequest, type ReplyListener } from '../http/client.ts';
import { AddressRefusedError, type NetGuard } from './net-guard.ts';

/**
 * A client that cannot be led to a refused address: each request's address is checked, and each connection goes to an
 * address that was checked. `makeClient` must use the lookup it is given. A refusal is an HttpFault `unsendable`.
 */
export function guardClient(guard: NetGuard, makeClient: (lookup: LookupFunction) => HttpClient): HttpClient {
  const client = makeClient(guard.lookup);
  return {
    send(request, listener) {
      const error = checkAddress(guard, request);
      return error === null ? client.send(request, new ExplainingListener(listener)) : failLater(listener, error);
    },
    close: () => client.close(),
  };
}

function checkAddress(guard: NetGuard, request: HttpRequest): HttpError | null {
  try {
    guard.checkUrl(request.url);
    return null;
  } catch (cause) {
    return toGuardError(cause) ?? new HttpError('unsendable', 'the address cannot be checked', cause);
  }
}

function failLater(listener: ReplyListener, error: HttpError): Exchange {
  let isOver = false;
  process.nextTick(() => {
    if (!isOver) listener.fail(error);
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
  fail: ReplyListener['fail'] = (error) => this.#listener.fail(toGuardError(error) ?? error);
}

function toGuardError(error: unknown): HttpError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefusedError) return new HttpError('unsendable', cause.message, error);
  }
  return undefined;
}
