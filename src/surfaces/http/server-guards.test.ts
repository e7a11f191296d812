import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { collectGarbage } from '#test/collect-garbage.ts';
import { waitUntilListening } from '#test/listening.ts';
import { enforceBodyPace } from './server-guards.ts';

it('enforceBodyPace() frees a complete request while its connection stays open', async () => {
  const requests: WeakRef<IncomingMessage>[] = [];
  const server = createServer((incoming, response) => {
    requests.push(new WeakRef(incoming));
    incoming.resume().on('end', () => response.end('whole'));
  });
  server.keepAliveTimeout = 0;
  enforceBodyPace(server);
  server.listen(0, '127.0.0.1');
  await waitUntilListening(server);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  request({ port, agent, method: 'POST', headers: { 'content-length': '4' } }, resolve).end('body');
  expect(await text(await promise)).toBe('whole');
  await vi.waitUntil(() => {
    collectGarbage();
    return requests[0]?.deref() === undefined;
  });
  expect(Object.values(agent.freeSockets)).toHaveLength(1);
});
