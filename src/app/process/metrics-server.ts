import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPath } from '#base/http/url-path.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** Port to listen on. 0 selects a free port. */
  readonly port: number;
  readonly reusePort?: boolean;
  readonly readMetrics: ReadMetrics;
  readonly reportError: (message: string, error: unknown) => void;
}

/** Returns the metrics in the format that an `Accept` field selects. */
export type ReadMetrics = (accept: string | undefined) => Promise<{ readonly contentType: string; readonly text: string }>;

export interface MetricsServer {
  readonly port: number;
  close(): void;
}

/** Serves only `/metrics`, for `PARLEY_METRICS_PORT`. Rejects if the port is not available. */
export function serveMetrics(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, readMetrics, reportError, reusePort = false } = options;
  const server = createServer(async (request, response) => {
    const isMetricsRequest = getPath(request.url ?? '') === '/metrics' && (request.method === 'GET' || request.method === 'HEAD');
    if (!isMetricsRequest) return response.writeHead(404).end();
    try {
      const { contentType, text } = await readMetrics(request.headers.accept);
      response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store', vary: 'accept' }).end(text);
    } catch (error) {
      reportError('cannot read the metrics', error);
      response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' }).end('The metrics cannot be read. Try again.\n');
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, reusePort }, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        close() {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}
