import type { Agent, fetch as send } from 'undici';
import { HttpError } from '../http/client.ts';
import type { NetGuard } from './net-guard.ts';

/** `fetch` as libraries take it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const maxHeaderBytes = 64 * 1024;

/** How undici sends, and the connections it sends on. */
interface Sender {
  readonly send: typeof send;
  readonly dispatcher: Agent;
}

/**
 * A fetch that cannot be led to a refused address: each request's address is checked, and each connection goes to an address
 * that was checked. It follows no redirects: whoever does comes back here for each. Has no time limits but `connectMs`, which
 * is milliseconds until the connection stands. Rejects with AddressRefused, or with what undici throws. The first request loads undici.
 */
export function createGuardedFetch(guard: NetGuard, connectMs: number): Fetch {
  let sender: Promise<Sender> | undefined;
  return async (url, init = {}) => {
    const target = new URL(url);
    guard.checkUrl(target);
    const headers = new Headers(init.headers);
    headers.delete('host');
    // The types of undici and of Node describe the same objects and do not know each other.
    sender ??= openSender(guard, connectMs);
    const { send, dispatcher } = await sender;
    const request = { ...init, headers: [...headers], redirect: 'manual', dispatcher } as unknown as Parameters<typeof send>[1];
    return (await send(target, request)) as unknown as Response;
  };
}

async function openSender(guard: NetGuard, connectMs: number): Promise<Sender> {
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
 * The same response with a bound on what is read of it after decoding: on the whole, or, of a stream of events, on each. What is
 * larger breaks off with an HttpFault `too_large`, with which `onExceeded` is called as well.
 */
export function limitBytes(response: Response, maxBytes: number, onExceeded: (error: HttpError) => void): Response {
  const { body, headers, status, statusText } = response;
  if (body === null) return response;
  const bound = new ByteBound(maxBytes, isEventStream(response));
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (bound.isWithinLimit(piece)) return controller.enqueue(piece);
      const error = new HttpError('too_large', `the reply is larger than ${maxBytes} bytes`);
      onExceeded(error);
      controller.error(error);
    },
  });
  return new Response(body.pipeThrough(bounded), { headers, status, statusText });
}

/** Whether the body comes as events. */
export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

const eventEnds = ['\n\n', '\n\r\n', '\r\r'];

/** Counts bytes since the start, or since the last end of an event. */
class ByteBound {
  readonly #maxBytes: number;
  readonly #isEvents: boolean;
  #bytes = 0;
  #tail = '';

  constructor(maxBytes: number, isEvents: boolean) {
    this.#maxBytes = maxBytes;
    this.#isEvents = isEvents;
  }

  isWithinLimit(piece: Uint8Array): boolean {
    this.#bytes += piece.length;
    if (this.#isEvents) this.#resetAtEventEnd(piece);
    return this.#bytes <= this.#maxBytes;
  }

  #resetAtEventEnd(piece: Uint8Array): void {
    const text = this.#tail + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1');
    const end = Math.max(...eventEnds.map((mark) => text.lastIndexOf(mark)));
    if (end !== -1) this.#bytes = text.length - end;
    this.#tail = text.slice(-2);
  }
}
