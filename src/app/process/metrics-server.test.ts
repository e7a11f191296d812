import { expect, onTestFinished, test, vi } from 'vitest';
import { type MetricsServer, serveMetrics } from './metrics-server.ts';

async function serve(port = 0): Promise<MetricsServer> {
  const read = async (accept: string | undefined) => ({ contentType: `text/${accept}`, text: 'up 1\n' });
  const server = await serveMetrics({ host: '127.0.0.1', port, readMetrics: read, reportError: () => undefined });
  onTestFinished(() => server.close());
  return server;
}

test('serveMetrics serves only /metrics', async () => {
  const { port } = await serve();
  const answer = await fetch(`http://127.0.0.1:${port}/metrics?a=1`, { headers: { accept: 'plain' } });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'text/plain', 'up 1\n']);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404);
});

test('serveMetrics rejects if the port is in use', async () => {
  const { port } = await serve();
  await expect(serve(port)).rejects.toThrow(/EADDRINUSE/);
});

test('serveMetrics responds with 503 if the metrics cannot be read', async () => {
  const cause = new Error('the other process has ended');
  const reportError = vi.fn();
  const server = await serveMetrics({ host: '127.0.0.1', port: 0, readMetrics: () => Promise.reject(cause), reportError });
  onTestFinished(() => server.close());
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`, { signal: AbortSignal.timeout(2_000) });
  expect([answer.status, await answer.text()]).toEqual([503, 'The metrics cannot be read. Try again.\n']);
  expect(reportError).toHaveBeenCalledExactlyOnceWith('cannot read the metrics', cause);
});
