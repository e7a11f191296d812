import type { OutgoingMessage, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Headers of every response that depends on the caller. They prevent shared caching and content sniffing. */
export const privateFields = {
  'cache-control': 'private, no-store',
  vary: 'Authorization, Api-Key, X-Api-Key',
  'x-content-type-options': 'nosniff',
} as const;

/** Response header that lists the request fields that did not reach a model. */
export const ignoredHeader = 'parley-ignored';

const maxNames = 32;
const maxNameLength = 64;

/** Adds the private headers to a Fastify reply unless the reply sets its own cache headers. */
export function keepPrivate(reply: FastifyReply): void {
  if (!reply.hasHeader('x-content-type-options')) reply.header('x-content-type-options', 'nosniff');
  const caching = reply.getHeader('cache-control');
  if (caching === undefined) reply.header('cache-control', privateFields['cache-control']);
  if (caching === undefined || String(caching).startsWith('private')) reply.header('vary', privateFields.vary);
}

/**
 * Returns the value of the `parley-ignored` header. The names come from the request, so they are shortened, encoded, and limited
 * in number.
 */
export function toIgnoredNames(ignored: readonly string[]): string {
  const names = ignored.slice(0, maxNames).map((name) => encodeURIComponent(name.slice(0, maxNameLength).toWellFormed()));
  const hiddenCount = ignored.length - names.length;
  return [...names, ...(hiddenCount > 0 ? [`and ${hiddenCount} more`] : [])].join(', ');
}

/** Calls `rewrite` immediately before the response sends its headers. Headers passed to `writeHead` are already set then. */
export function rewriteHead(response: ServerResponse, rewrite: () => void): void {
  const writeHead = response.writeHead;
  response.writeHead = (status: number, ...args: unknown[]): ServerResponse => {
    setFields(response, args.at(-1));
    rewrite();
    return writeHead.call(response, status);
  };
}

/** Sets headers in the form that `writeHead` accepts: alternating names and values, or an object. */
export function setFields(message: OutgoingMessage, fields: unknown): void {
  if (Array.isArray(fields))
    for (let index = 0; index + 1 < fields.length; index += 2) message.appendHeader(fields[index], fields[index + 1]);
  else if (typeof fields === 'object')
    for (const [name, value] of Object.entries(fields ?? {})) if (value !== undefined) message.setHeader(name, value);
}

/** Returns the value of `Vary` with `Origin` added. */
export function toVary(vary: string | undefined): string {
  const varyNames = (vary ?? '').split(',').map((name) => name.trim());
  return ['Origin', ...varyNames.filter((name) => name !== '' && name.toLowerCase() !== 'origin')].join(', ');
}

/** Returns whether an `Accept-Encoding` field names a content coding with a weight above 0 (RFC 9110, 12.5.3). `*` does not count. */
export function acceptsEncoding(field: string | undefined, coding: string): boolean {
  if (field === undefined) return false;
  return field.split(',').some((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return name === coding && Number(weight) > 0;
  });
}
