import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Fixture } from '@copilotkit/aimock';

/** One request as the upstream got it. */
interface Exchange {
  readonly body: string;
  /** Whether the other side left before the reply was whole. */
  readonly wasLeft: boolean;
}

export interface ObservedUpstream extends AsyncDisposable {
  readonly url: string;
  /** What came with a text in its body. */
  exchangesWith(text: string): readonly Exchange[];
}

/** A third party's mock of the vendors' APIs, beside which every request is kept. */
export async function startObservedUpstream(fixtures: Fixture[]): Promise<ObservedUpstream> {
  const { server, url } = await createServer(fixtures, { port: 0, host: '127.0.0.1', chunkSize: 4, logLevel: 'silent' });
  const exchanges: { body: string; wasLeft: boolean }[] = [];
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = { body: '', wasLeft: false };
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      exchange.body = Buffer.concat(parts).toString();
      exchanges.push(exchange);
    });
    response.on('close', () => {
      exchange.wasLeft = !response.writableFinished;
    });
  });
  return {
    url,
    exchangesWith: (text) => exchanges.filter(({ body }) => body.includes(text)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
