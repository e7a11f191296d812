import type { Agent, fetch as send } from 'undici';
import { HttpError } from '../http/client.ts';
import type { NetGuard } from './net-guard.ts';

/** `fetch` with the parameters that libraries use. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const maxHeaderBytes = 64 * 1024;

/** The `fetch` of undici and its connection pool. */
interface UndiciClient {
  readonly send: typeof send;
  readonly dispatcher: Agent;
}

/**
 * Returns a fetch that cannot reach blocked addresses. It checks the address of each request and connects only to checked
 * addresses. It does not follow redirects: the caller must call it again for each redirect. `connectMs` is the connect timeout in
 * milliseconds. There is no other time limit. Rejects with `BlockedAddressError`, or with the error of undici. The first request
 * loads undici.
 */
export function createGuardedFetch(guard: NetGuard, connectMs: number): Fetch {
  let undici: Promise<UndiciClient> | undefined;
  return async (url, init = {}) => {
    const target = new URL(url);
    guard.checkUrl(target);
    const headers = new Headers(init.headers);
    headers.delete('host');
    // The types of undici and of Node describe the same objects but are not compatible.
    undici ??= loadUndici(guard, connectMs);
    const { send, dispatcher } = await undici;
    const request = { ...init, headers: [...headers], redirect: 'manual', dispatcher } as unknown as Parameters<typeof send>[1];
    return (await send(target, request)) as unknown as Response;
  };
}

async function loadUndici(guard: NetGuard, connectMs: number): Promise<UndiciClient> {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent({
    allowH2: false,
    bodyTimeout: 0,
    headersTimeout: 0,
    maxHeaderSize: maxHeaderBytes,
    connect: { timeout: connectMs, lookup: guard.lookup },
  });
  return { send: fetch, dispatcher };
}

/**
 * Returns the response with a limit on its decoded bytes. For an event stream, the limit applies to each event, otherwise to the
 * complete body. If the limit is exceeded, calls `onExceeded` with an `HttpError` `too_large` and ends the body with it.
 */
export function limitBytes(response: Response, maxBytes: number, onExceeded?: (error: HttpError) => void): Response {
  const { body, headers, status, statusText } = response;
  if (body === null) return response;
  const counter = new ByteCounter(maxBytes, isEventStream(response));
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (counter.add(piece)) return controller.enqueue(piece);
      const error = new HttpError('too_large', `the reply is larger than ${maxBytes} bytes`);
      onExceeded?.(error);
      controller.error(error);
    },
  });
  return new Response(body.pipeThrough(bounded), { headers, status, statusText });
}

/** Returns whether the body is a stream of server-sent events. */
export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}

const eventEnds = ['\n\n', '\n\r\n', '\r\r'];

/** Counts bytes since the start, or since the last end of an event. */
class ByteCounter {
  readonly #maxBytes: number;
  readonly #isEventStream: boolean;
  #bytes = 0;
  #tail = '';

  constructor(maxBytes: number, isEventStream: boolean) {
    this.#maxBytes = maxBytes;
    this.#isEventStream = isEventStream;
  }

  /** Adds a piece. Returns whether the total is within the limit. */
  add(piece: Uint8Array): boolean {
    this.#bytes += piece.length;
    if (this.#isEventStream) this.#resetAtEventEnd(piece);
    return this.#bytes <= this.#maxBytes;
  }

  #resetAtEventEnd(piece: Uint8Array): void {
    const text = this.#tail + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1');
    const end = Math.max(...eventEnds.map((mark) => text.lastIndexOf(mark)));
    if (end !== -1) this.#bytes = text.length - end;
    this.#tail = text.slice(-2);
  }
}
