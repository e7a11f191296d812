import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Caches } from '#base/caches.ts';
import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { toSnapshot } from '#domain/deployments/config-snapshot.ts';
import { silentTelemetry } from '#domain/telemetry.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { composeService } from './compose.ts';
import type { ServiceDeps } from './service-parts.ts';

const calls = 12;
const longestMs = 1_000;
const longestReply = 64 * 1024;
const host = '127.0.0.1';

/**
 * Makes a few calls to a service like this one, on a port that nobody knows: the first callers of the node then do not wait for its
 * code to be compiled, 20 to 40 ms. Nothing of it is counted, logged or stored. Takes a second at most, and never fails.
 */
export async function warmUp(parts: Pick<ServiceDeps, 'clock' | 'embedder' | 'http' | 'stores'>): Promise<void> {
  const upstream = createServer(answer);
  const key = randomBytes(18).toString('base64url');
  try {
    const endpoint = `${await listen(upstream)}/v1`;
    const limits = { '*': { minute: Number.MAX_SAFE_INTEGER, requestMinute: Number.MAX_SAFE_INTEGER } };
    const checked = checkConfiguration({
      models: { model: { upstreams: [{ endpoint }] } },
      keys: { [key]: { project: 'warm-up', role: 'default' } },
      roles: { default: { limits } },
    });
    if ('faults' in checked) return;
    const snapshot = toSnapshot(checked.configuration);
    const stores = { ...parts.stores, limits: new MemoryLimitStore() };
    const deps = { clock: parts.clock, http: parts.http, embedder: parts.embedder, stores, caches: new Caches() };
    const { app } = composeService({ ...deps, snapshot: () => snapshot, telemetry: silentTelemetry });
    try {
      const url = new URL('/v1/chat/completions', await app.listen({ host, port: 0 }));
      await callOften(parts.http, { url, key });
    } finally {
      app.server.closeAllConnections();
      await app.close();
    }
  } catch {
    // The node serves all the same.
  } finally {
    upstream.close();
    upstream.closeAllConnections();
  }
}

/** Streamed and in one piece, in turn. */
async function callOften(http: HttpClient, { url, key }: { readonly url: URL; readonly key: string }): Promise<void> {
  const signal = AbortSignal.timeout(longestMs);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const timeouts = { connectMs: longestMs, firstByteMs: longestMs, idleMs: longestMs };
  for (let nth = 0; nth < calls; nth += 1) {
    const body = JSON.stringify({ model: 'model', stream: nth % 2 === 0, messages: [{ role: 'user', content: 'Hello.' }] });
    await readText(await openReply(http, { method: 'POST', url, headers, body, timeouts }, signal), longestReply);
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, host);
  await once(server, 'listening');
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

/** An upstream that says the same to everybody. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let asked = '';
  for await (const piece of request) asked += piece;
  const head = { id: 'chatcmpl-0', created: 1, model: 'model' };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  if (!asked.includes('"stream":true')) {
    const message = { role: 'assistant', content: 'Hello, you.' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const send = (chunk: object): unknown =>
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`);
  for (const content of ['Hello', ', ', 'you', '.']) {
    send({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] });
    await new Promise(setImmediate);
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}
