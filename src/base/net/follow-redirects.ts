import { type HttpClient, HttpError, type HttpRequest } from '../http/client.ts';
import { type HttpReply, openReply } from '../http/read-reply.ts';

const maxRedirects = 5;
/** Header fields that may be sent to another origin, because they never contain credentials. */
const harmlessHeaders = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);

/**
 * Sends the request and follows up to five redirects. To another origin, it follows only GET requests, with harmless header
 * fields and without a body. Every address passes through the client and its guard. Rejects with `HttpError`.
 */
export async function openFollowingRedirects(
  client: HttpClient,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<{ reply: HttpReply; url: URL }> {
  let current = request;
  for (let followed = 0; ; followed += 1) {
    const reply = await openReply(client, current, signal);
    const target = findRedirectTarget(reply, current.url);
    if (target === undefined) return { reply, url: current.url };
    await discardReply(reply);
    if (followed === maxRedirects) throw new HttpError('malformed', `the server redirects more than ${maxRedirects} times`);
    current = toRedirectedRequest(current, reply.status, target);
  }
}

function findRedirectTarget({ status, headers }: HttpReply, base: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, base)) throw new HttpError('malformed', 'the server redirects to an invalid URL');
  return new URL(headers.location, base);
}

function toRedirectedRequest(request: HttpRequest, status: number, url: URL): HttpRequest {
  const becomesGet = (status === 303 && request.method !== 'GET') || (status < 303 && request.method === 'POST');
  const next: HttpRequest = becomesGet
    ? { ...request, url, method: 'GET', body: null, headers: omitHeaders(request.headers, (name) => name.startsWith('content-')) }
    : { ...request, url };
  if (url.origin === request.url.origin) return next;
  if (next.method !== 'GET')
    throw new HttpError('unsendable', `a redirect of a ${next.method} request to another origin is not followed`);
  return { ...next, body: null, headers: omitHeaders(next.headers, (name) => !harmlessHeaders.has(name)) };
}

function omitHeaders(headers: HttpRequest['headers'], isDropped: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isDropped(name.toLowerCase())));
}

/** Cancels a reply without reading its body. */
export async function discardReply({ body }: HttpReply): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}
