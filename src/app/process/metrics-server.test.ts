import { expect, onTestFinished, test } from 'vitest';
import { type MetricsServer, serveMetrics } from './metrics-server.ts';

async function serve(port = 0): Promise<MetricsServer> {
  const read = async (accept: string | undefined) => ({ contentType: `text/${accept}`, text: 'up 1\n' });
  const server = await serveMetrics({ host: '127.0.0.1', port, readMetrics: read });
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
