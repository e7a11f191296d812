import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { startProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

const demo = { upstreams: [{ protocol: 'demo' }] };

describe('signals of a running node', () => {
  it('reads the configuration again after SIGHUP, although no configuration file changed', async () => {
    await using folder = await openFolder();
    const file = join(folder.path, 'key');
    await writeFile(file, 'the-first-key-of-this-test\n');
    const keys = { ci: { key: `\${file:${file}}`, project: 'ci' } };
    await using node = await startProcess({ configuration: { models: { demo }, keys } });
    const statusWith = async (key: string): Promise<number> =>
      (await node.sendRequest({ method: 'GET', path: '/v1/models', headers: { 'api-key': key } })).status;
    expect(await statusWith('the-first-key-of-this-test')).toBe(200);
    await writeFile(file, 'the-second-key-of-this-test\n');
    node.kill('SIGHUP');
    await node.untilOutput(/configuration reloaded/);
    expect(await statusWith('the-second-key-of-this-test')).toBe(200);
    expect(await statusWith('the-first-key-of-this-test')).toBe(401);
  });

  it('keeps the active configuration if the one read after SIGHUP is invalid', async () => {
    await using folder = await openFolder();
    const file = join(folder.path, 'key');
    await writeFile(file, 'the-first-key-of-this-test');
    const keys = { 'caller-key': { project: 'test' }, ci: { key: `\${file:${file}}`, project: 'ci' } };
    await using node = await startProcess({ configuration: { models: { demo }, keys } });
    await writeFile(file, '');
    node.kill('SIGHUP');
    await node.untilOutput(/configuration rejected/);
    expect(node.output.stdout + node.output.stderr).toContain(file);
    expect((await node.chat('demo', { messages: hello })).status).toBe(200);
  });

  it.each(['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGPIPE'] as const)('continues after %s, without a debugger', async (signal) => {
    await using node = await startProcess({ configuration: { models: { demo } } });
    node.kill(signal);
    node.kill(signal);
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await node.chat('demo', { messages: hello })).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(node.output.stderr).not.toContain('Debugger listening');
  });

  it('continues after SIGHUP without a configuration file', async () => {
    await using node = await startProcess({ configuration: null });
    node.kill('SIGHUP');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await node.sendRequest({ method: 'GET', path: '/health' })).status).toBe(200);
  });
});
