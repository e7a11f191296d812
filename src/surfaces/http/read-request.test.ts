import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { authorizeCall } from './authorize-call.ts';
import { readBody } from './read-request.ts';
import { maxStalledMs } from './replies/event-stream.ts';
import { sendJson } from './replies/send-json.ts';

/** Sends a raw request, calls `serve` with it, and returns the result. The client never reads the response. */
async function serveRequest<Result>(
  text: string,
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<Result>,
) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.write(text);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  try {
    return await serve(request, response);
  } finally {
    socket.destroy();
    server.close();
  }
}

const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n';

test('readBody waits for a body until the signal aborts', async () => {
  const controller = new AbortController();
  const reading = serveRequest(`${head}{`, async (request) => {
    setTimeout(() => controller.abort(new Error('stopping')), 20);
    return readBody(request, 1000, { signal: () => controller.signal });
  });
  await expect(reading).rejects.toThrow('stopping');
});

test('readBody fails immediately if the signal is aborted or the client has disconnected', async () => {
  const stopped = serveRequest(`${head}{`, async (request) =>
    readBody(request, 1000, { signal: () => AbortSignal.abort(new Error('stopped')) }),
  );
  await expect(stopped).rejects.toThrow('stopped');
  const left = serveRequest(`${head}{`, async (request) => {
    request.destroy();
    await once(request, 'close');
    return readBody(request, 1000);
  });
  await expect(left).rejects.toThrow('closed before');
});

test('sendJson limits the wait for a client that does not read the response', async () => {
  const waited = await serveRequest('GET / HTTP/1.1\r\nhost: x\r\n\r\n', async (_request, response) => {
    sendJson(response, 200, 'x'.repeat(50_000_000));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    return response.socket?.timeout;
  });
  expect(waited).toBe(maxStalledMs);
});

test('readBody returns the complete body if it arrived in several chunks before the call', async () => {
  const text = 'x'.repeat(100_000);
  const { length } = await serveRequest(
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n${text}`,
    async (request) => {
      while (request.readableLength < text.length) await new Promise(setImmediate);
      return readBody(request, 1_000_000);
    },
  );
  expect(length).toBe(text.length);
});

const largeText = JSON.stringify({ model: 'm', text: 'a'.repeat(2 ** 21) });

test('readBody yields to the event loop after a large body', async () => {
  const message = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${largeText.length}\r\n\r\n${largeText}`;
  const log = await serveRequest(message, async (request) => {
    const steps: string[] = [];
    request.once('end', () => setImmediate(() => steps.push('other work')));
    await readBody(request, 2 ** 23);
    return [...steps, 'use'];
  });
  expect(log).toEqual(['other work', 'use']);
});

test('authorizeCall yields to the event loop between parsing and validation of a large body', async () => {
  const steps: string[] = [];
  const authorize = async (): Promise<object> => {
    setImmediate(() => steps.push('other work'));
    return {};
  };
  const context = { id: 'r', record: { setDeployment: () => undefined }, request: {} };
  const deps = { handler: { readJson: () => Buffer.from(largeText) }, calls: { authorize } };
  await authorizeCall(deps as never, { context, caller: {} } as never);
  expect([...steps, 'check']).toEqual(['other work', 'check']);
});
