import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPath } from '#base/http/url-path.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** Port to listen on. 0 selects a free port. */
  readonly port: number;
  readonly contentType: string;
  readonly read: () => string;
}

export interface MetricsServer {
  readonly port: number;
  close(): void;
}

/** Serves only `/metrics`, for `PARLEY_METRICS_PORT`. Rejects if the port is not available. */
export function serveMetrics({ contentType, host, port, read }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const isMetricsRequest = getPath(request.url ?? '') === '/metrics' && (request.method === 'GET' || request.method === 'HEAD');
    if (!isMetricsRequest) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(read());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
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
