import { type AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';

const messages = [{ role: 'user', content: 'Hello' }];
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(eventsReply(...plainReply('Hello')));
  service = await startService({ models: { gpt: { upstreams: [{ endpoint: upstream.endpoint }] } } });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

it('small writes are sent immediately to upstreams and to clients', async () => {
  const setNoDelay = vi.spyOn(Socket.prototype, 'setNoDelay');
  const { status } = await service.chat('gpt', { messages });
  const sockets = setNoDelay.mock.contexts as Socket[];
  const port = Number(new URL(upstream.url).port);
  const delayedPorts = setNoDelay.mock.calls.flatMap(([isOn], index) => (isOn === false ? [sockets[index]?.remotePort] : []));
  setNoDelay.mockRestore();
  expect(status).toBe(200);
  expect(sockets.map(({ remotePort }) => remotePort)).toContain(port);
  expect(delayedPorts).toEqual([]);
  // Node applies this setting to each incoming connection.
  expect(Reflect.get(service.app.server, 'noDelay')).toBe(true);
});

it('the headers of a stream and its first events are sent in one write', async () => {
  const servicePort = (service.app.server.address() as AddressInfo).port;
  const written: string[] = [];
  const write = Socket.prototype.write;
  const spied = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
    if (this.localPort === servicePort) written.push(String(args[0]));
    return Reflect.apply(write, this, args);
  });
  const { status } = await service.chat('gpt', { messages, stream: true });
  spied.mockRestore();
  expect(status).toBe(200);
  expect(written[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n.*data: \{.*"role":"assistant"/s);
});
