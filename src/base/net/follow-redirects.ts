import { type HttpClient, HttpFault, type HttpRequest } from '../http/client.ts';
import { type HttpReply, openReply } from '../http/read-reply.ts';

const maxRedirects = 5;
/** What may go to another origin: nothing that a credential could be in. */
const harmless = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);

/**
 * Sends the request and follows up to five redirects as the fetch standard does. To another origin it carries no header field
 * but harmless ones, and never a body. Each address goes through the client, and so through its guard. Rejects with HttpFault.
 */
export async function openFollowing(
  client: HttpClient,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<{ reply: HttpReply; url: URL }> {
  let next = request;
  for (let followed = 0; ; followed += 1) {
    const reply = await openReply(client, next, signal);
    const target = redirectTarget(reply, next.url);
    if (target === undefined) return { reply, url: next.url };
    await discard(reply);
    if (followed === maxRedirects) throw new HttpFault('malformed', `the server redirects more than ${maxRedirects} times`);
    next = redirected(next, reply.status, target);
  }
}

function redirectTarget({ status, headers }: HttpReply, base: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, base)) throw new HttpFault('malformed', 'the server redirects to what is no address');
  return new URL(headers.location, base);
}

function redirected(request: HttpRequest, status: number, url: URL): HttpRequest {
  const becomesGet = (status === 303 && request.method !== 'GET') || (status < 303 && request.method === 'POST');
  const moved: HttpRequest = becomesGet
    ? { ...request, url, method: 'GET', body: null, headers: without(request.headers, isAboutBody) }
    : { ...request, url };
  if (url.origin === request.url.origin) return moved;
  if (moved.method !== 'GET')
    throw new HttpFault('unsendable', `a redirect of a ${moved.method} request to another origin is not followed`);
  return { ...moved, body: null, headers: without(moved.headers, (name) => !harmless.has(name)) };
}

function isAboutBody(name: string): boolean {
  return name.startsWith('content-');
}

function without(headers: HttpRequest['headers'], isDropped: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isDropped(name.toLowerCase())));
}

/** Lets go of a reply whose body nobody wants. */
export async function discard({ body }: HttpReply): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}
