import { type Fetch, isEventStream, limitBytes } from '../net/guarded-fetch.ts';
import { encodeBody, type HttpClient, HttpError, type HttpRequest, type HttpTimeouts } from './client.ts';
import { ownFields } from './header-fields.ts';
import { type HttpReply, openReply } from './read-reply.ts';

const methods: ReadonlySet<string> = new Set<HttpRequest['method']>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);
const neverAborted = new AbortController().signal;

export interface FetchBounds {
  readonly timeouts: HttpTimeouts;
  /** Maximum size of a complete reply in bytes. */
  readonly maxBytes: number;
  /** Maximum size of each event of a stream in bytes. Default: `maxBytes`. */
  readonly maxEventBytes?: number;
}

/**
 * Returns a fetch over our own client, for libraries that accept one. Its calls and their bodies reject with an `HttpError` or
 * the signal's reason. Content is read from the socket only on demand. It does not follow redirects.
 */
export function toFetch(http: HttpClient, { timeouts, maxBytes, maxEventBytes = maxBytes }: FetchBounds): Fetch {
  return async (url, init = {}) => {
    const method = (init.method ?? 'GET').toUpperCase();
    if (!isMethod(method)) throw new HttpError('unsendable', `the method ${method} cannot be sent`);
    const body = await toBody(init.body);
    const headers = Object.fromEntries([...new Headers(init.headers)].filter(([name]) => !ownFields.has(name)));
    const request = { method, url: new URL(url), headers, body, timeouts };
    const reply = await openReply(http, request, init.signal ?? neverAborted);
    const response = toResponse(reply);
    return limitBytes(response, isEventStream(response) ? maxEventBytes : maxBytes);
  };
}

function isMethod(method: string): method is HttpRequest['method'] {
  return methods.has(method);
}

async function toBody(body: RequestInit['body']): Promise<HttpRequest['body']> {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return encodeBody(body);
  return Buffer.from(await new Response(body).arrayBuffer());
}

function toResponse({ status, headers, body }: HttpReply): Response {
  const pieces = body[Symbol.asyncIterator]();
  const close = async (): Promise<void> => void (await pieces.return?.());
  if (bodiless.has(status)) {
    void close();
    return new Response(null, { status, headers });
  }
  const bytes = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await pieces.next();
        if (piece.done) controller.close();
        else controller.enqueue(Buffer.from(piece.value, 'latin1'));
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
  try {
    return new Response(bytes, { status, headers });
  } catch (cause) {
    void close();
    throw new HttpError('malformed', 'fetch does not accept the head of the reply', cause);
  }
}
