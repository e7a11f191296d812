import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Fixture } from '@copilotkit/aimock';

/** One request as the upstream received it. */
interface Exchange {
  readonly body: string;
  /** Whether the client disconnected before the reply was complete. */
  readonly isCanceled: boolean;
}

export interface ObservedUpstream extends AsyncDisposable {
  readonly url: string;
  /** Returns the requests with the text in their bodies. */
  exchangesWith(text: string): readonly Exchange[];
}

/** A third-party mock of the vendor APIs that records each request. */
export async function startObservedUpstream(fixtures: Fixture[]): Promise<ObservedUpstream> {
  const { server, url } = await createServer(fixtures, { port: 0, host: '127.0.0.1', chunkSize: 4, logLevel: 'silent' });
  const exchanges: { body: string; isCanceled: boolean }[] = [];
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = { body: '', isCanceled: false };
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      exchange.body = Buffer.concat(parts).toString();
      exchanges.push(exchange);
    });
    response.on('close', () => {
      exchange.isCanceled = !response.writableFinished;
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
