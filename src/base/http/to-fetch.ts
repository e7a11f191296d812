import { type Fetch, isEventStream, limitBytes } from '../net/guarded-fetch.ts';
import { toLatin1 } from '../text/bytes.ts';
import { type HttpClient, HttpError, type HttpRequest, type HttpTimeouts } from './client.ts';
import { ownFields } from './header-fields.ts';
import { type HttpReply, openReply } from './read-reply.ts';

const methods: ReadonlySet<string> = new Set<HttpRequest['method']>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);
const maxJoinedChars = 12 * 1024;
const never = new AbortController().signal;

export interface FetchBounds {
  readonly timeouts: HttpTimeouts;
  /** Bytes of a whole reply. */
  readonly maxBytes: number;
  /** Bytes of each event of a stream; absent: as many. */
  readonly maxEventBytes?: number;
}

/**
 * A fetch over our own client, for libraries that take one. Rejects with an HttpFault or the signal's reason, as does its
 * body while it is read; what is read stays unread until it is asked for. Follows no redirects, decompresses nothing.
 */
export function toFetch(http: HttpClient, { timeouts, maxBytes, maxEventBytes = maxBytes }: FetchBounds): Fetch {
  return async (url, init = {}) => {
    const method = (init.method ?? 'GET').toUpperCase();
    if (!isMethod(method)) throw new HttpError('unsendable', `the method ${method} cannot be sent`);
    const body = await toBody(init.body);
    const headers = Object.fromEntries([...new Headers(init.headers)].filter(([name]) => !ownFields.has(name)));
    const request = { method, url: new URL(url), headers, body, timeouts };
    const reply = await openReply(http, request, init.signal ?? never);
    const response = toResponse(reply);
    return limitBytes(response, isEventStream(response) ? maxEventBytes : maxBytes, () => undefined);
  };
}

function isMethod(method: string): method is HttpRequest['method'] {
  return methods.has(method);
}

/** Small texts as latin1, which goes out in one write with the head. */
async function toBody(body: RequestInit['body']): Promise<HttpRequest['body']> {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' && body.length <= maxJoinedChars) return toLatin1(body);
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
    throw new HttpError('malformed', 'the head of the reply is not of the form that fetch knows', cause);
  }
}
