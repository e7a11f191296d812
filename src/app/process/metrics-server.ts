import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPath } from '#base/http/url-path.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** Port to listen on. 0 selects a free port. */
  readonly port: number;
  readonly reusePort?: boolean;
  readonly readMetrics: ReadMetrics;
}

/** Returns the metrics in the format that an `Accept` field selects. */
export type ReadMetrics = (accept: string | undefined) => Promise<{ readonly contentType: string; readonly text: string }>;

export interface MetricsServer {
  readonly port: number;
  close(): void;
}

/** Serves only `/metrics`, for `PARLEY_METRICS_PORT`. Rejects if the port is not available. */
export function serveMetrics({ host, port, readMetrics, reusePort = false }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer(async (request, response) => {
    const isMetricsRequest = getPath(request.url ?? '') === '/metrics' && (request.method === 'GET' || request.method === 'HEAD');
    if (!isMetricsRequest) return response.writeHead(404).end();
    const { contentType, text } = await readMetrics(request.headers.accept);
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store', vary: 'accept' }).end(text);
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
