import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Caches } from '#base/cache/bounded-cache.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import type { JsonObject } from '#base/json/json.ts';
import { guardClient, NetGuard } from '#base/net/net-guard.ts';
import { type Clock, systemClock } from '#base/time/clock.ts';
import type { RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { type Authorizer, createAuthorizer } from '#tools/authorization/authorizer.ts';
import { TokenCache } from '#tools/authorization/token-cache.ts';
import { createRestTool } from '#tools/rest/create-rest-tools.ts';

export const neverAborted = new AbortController().signal;
const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };

interface SeenRequest {
  readonly method: string;
  /** Path and query exactly as sent. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Starts a server on a free local port that records its requests. */
export async function startServer(answer: RequestListener) {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

/** Creates a guarded client that may reach only 127.0.0.1 by default. */
export function createGuardedClient(allowed: readonly string[] = ['127.0.0.1']) {
  const client = guardClient(new NetGuard(allowed), (lookup) => new LeanClient({ lookup }));
  onTestFinished(() => client.close());
  return client;
}

export function createTokenCache(clock: Clock = systemClock) {
  return new TokenCache({ http: createGuardedClient(), clock, caches: new Caches(), timeouts });
}

/** Runs a tool with this definition once. */
export function callTool(definition: Partial<RestToolDefinition> & { url: string }, args: JsonObject, authorizer?: Authorizer) {
  const completeDefinition: RestToolDefinition = {
    name: 'tool',
    description: '',
    parameters: { type: 'object' },
    method: 'GET',
    arguments: [],
    constants: [],
    contentType: 'application/json',
    isPublic: false,
    ...definition,
  };
  const options = {
    http: createGuardedClient(),
    authorizer: authorizer ?? createAuthorizer(null, createTokenCache()),
    limits: { connectMs: 60_000, timeoutMs: 500, maxReplyBytes: 10_000 },
  };
  return createRestTool(completeDefinition, options).run(args, {
    signal: neverAborted,
    report: () => Promise.resolve(),
    cite: () => 1,
    maxResultBytes: 10_000,
  });
}
