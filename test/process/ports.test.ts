import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { findFreePort, waitUntilListening } from '#test/listening.ts';
import { runCommand } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

async function startWith(environment: Readonly<Record<string, string>>, port = '0') {
  await using folder = await openFolder();
  const file = join(folder.path, 'parley.json');
  await writeFile(
    file,
    JSON.stringify({ models: { demo: { upstreams: [{ protocol: 'demo' }] } }, keys: { k: { project: 'p' } } }),
  );
  const result = await runCommand(['serve', '--config', file, '--port', port, '--data', join(folder.path, 'data')], environment);
  const { code, stderr } = result;
  return { code, lines: stderr.trim().split('\n') };
}

describe('the error for an unusable setting', () => {
  it('names a metrics port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await waitUntilListening(server);
    const { port } = server.address() as AddressInfo;
    const { code, lines } = await startWith({ PARLEY_METRICS_PORT: String(port) });
    server.close();
    expect([code, lines]).toEqual([
      1,
      [`parley: port ${port} of 127.0.0.1 is in use. Choose another port with PARLEY_METRICS_PORT`],
    ]);
  });

  it('names a metrics port that equals the service port', async () => {
    const port = String(await findFreePort());
    const { code, lines } = await startWith({ PARLEY_METRICS_PORT: port }, port);
    expect([code, lines]).toEqual([
      1,
      [`parley: PARLEY_METRICS_PORT and the port of the service are both ${port}. Set PARLEY_METRICS_PORT to a different port`],
    ]);
  });

  it.each(['foo', 'http://localhost:6379', 'redis://host/x', 'localhost:6379'])(
    'names PARLEY_REDIS_URL if it is %s',
    async (url) => {
      const { code, lines } = await startWith({ PARLEY_REDIS_URL: url });
      expect(code).toBe(1);
      expect(lines).toEqual([expect.stringMatching(/^parley: PARLEY_REDIS_URL must be redis:\/\/\[user:password@]host/)]);
    },
  );
});
