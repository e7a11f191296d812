import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { uiRoutes } from '#surfaces/ui/routes.ts';
import { waitUntilListening } from '#test/listening.ts';

/** A proxy in front of a service. It can go offline, come back, and serve another build of the page. */
export interface PageFront extends AsyncDisposable {
  readonly url: string;
  goAway(): void;
  comeBack(): void;
  /** Serves the page from this folder from now on. */
  servePageFrom(folder: string): Promise<void>;
}

const pagePattern = /^\/($|\?|index\.html|assets\/|[\w.-]+\.(js|svg|png|html)$)/;
const settings = { conversations: 'server', sharing: true, offline: true } as const;

export async function startPageFront(service: string): Promise<PageFront> {
  let isUnavailable = false;
  let page: ReturnType<typeof fastify> | undefined;
  const forward = (incoming: IncomingMessage, reply: ServerResponse): void => {
    const { method, headers } = incoming;
    const outgoing = request(new URL(incoming.url ?? '/', service), { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    outgoing.on('error', () => reply.destroy());
    reply.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, reply) => {
    if (isUnavailable) incoming.socket.destroy();
    else if (page !== undefined && incoming.method === 'GET' && pagePattern.test(incoming.url ?? ''))
      page.routing(incoming, reply);
    else forward(incoming, reply);
  });
  await waitUntilListening(server.listen(0, '127.0.0.1'));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    goAway() {
      isUnavailable = true;
      server.closeAllConnections();
    },
    comeBack() {
      isUnavailable = false;
    },
    async servePageFrom(folder) {
      const next = fastify();
      uiRoutes(next, { folder, listSignInOptions: async () => [], isFirstStart: () => false, settings: () => settings });
      await next.ready();
      page = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
