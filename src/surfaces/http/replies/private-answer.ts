import type { FastifyReply } from 'fastify';

/** Fields of every answer that depends on who asks: nobody keeps it for others, and no browser guesses what it is. */
export const privateFields = {
  'cache-control': 'private, no-store',
  vary: 'Authorization, Api-Key, X-Api-Key',
  'x-content-type-options': 'nosniff',
} as const;

/** The same on a reply of the framework, if it does not say itself how it may be kept. */
export function keepPrivate(reply: FastifyReply): void {
  if (!reply.hasHeader('x-content-type-options')) reply.header('x-content-type-options', 'nosniff');
  const caching = reply.getHeader('cache-control');
  if (caching === undefined) reply.header('cache-control', privateFields['cache-control']);
  if (caching === undefined || String(caching).startsWith('private')) reply.header('vary', privateFields.vary);
}
