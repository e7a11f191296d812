import type { FastifyInstance } from 'fastify';
import type { ListSignInWays } from '#contract/sign-in-way.ts';

/** `/v1/sign-in`: the ways to sign in that the page offers beside a key. Open to all: who asks has not signed in yet. */
export function signInRoutes(app: FastifyInstance, { listWays }: { readonly listWays: ListSignInWays }): void {
  app.get('/v1/sign-in', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { data: await listWays(), object: 'list' };
  });
}
