import type { LookupFunction } from 'node:net';
import { type Exchange, type HttpClient, HttpError, type HttpRequest, type ReplyListener } from '../http/client.ts';
import { BlockedAddressError, type NetGuard } from './net-guard.ts';

/**
 * Returns a client that cannot reach blocked addresses. It checks the address of each request and connects only to checked
 * addresses. `makeClient` must use the given lookup. A blocked request fails with `HttpError` `unsendable`.
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
  let isCanceled = false;
  process.nextTick(() => {
    if (!isCanceled) listener.fail(error);
  });
  const cancel = (): void => {
    isCanceled = true;
  };
  const ignore = (): void => undefined;
  return { pause: ignore, resume: ignore, endWithin: ignore, cancel };
}

/** Replaces the error of a connection that the guard blocked by the guard's error. */
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
    if (cause instanceof BlockedAddressError) return new HttpError('unsendable', cause.message, error);
  }
  return undefined;
}
