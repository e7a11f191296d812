import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const waiting = { timeout: 40_000, interval: 50 };

/** Starts `npm run dev` in its own process group, as a shell does. */
function startDev(folder: string) {
  const { PATH = '', HOME = '' } = process.env;
  const npm = spawn('npm', ['run', 'dev', '--', '--port', '0', '--data', join(folder, 'data')], {
    cwd: root,
    env: { PATH, HOME },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const isRunning = (): boolean => {
    try {
      return process.kill(-(npm.pid ?? 0), 0);
    } catch {
      return false;
    }
  };
  onTestFinished(() => {
    if (isRunning()) process.kill(-(npm.pid ?? 0), 'SIGKILL');
  });
  return { ended: once(npm, 'exit'), isRunning, output: () => output, interrupt: () => process.kill(-(npm.pid ?? 0), 'SIGINT') };
}

it('npm run dev serves the page and a service that restarts after a change with the same key, and SIGINT ends both', async () => {
  await using folder = await openFolder();
  const dev = startDev(folder.path);
  const count = (message: string) => dev.output().split(message).length - 1;
  const statusWithKey = async (): Promise<number> => {
    const [, page = ''] = /The page is on (\S+)/.exec(dev.output()) ?? [];
    expect(await (await fetch(page)).text()).toContain('/@vite/client');
    return (await fetch(`${page}v1/user/info`, { headers: { 'api-key': 'dev' } })).status;
  };
  await vi.waitUntil(() => count('"msg":"listening"') === 1, waiting);
  expect(await statusWithKey()).toBe(200);
  await utimes(join(root, 'src/app/main.ts'), new Date(), new Date());
  await vi.waitUntil(() => count('"msg":"listening"') === 2, waiting);
  expect(await statusWithKey()).toBe(200);
  dev.interrupt();
  await dev.ended;
  await vi.waitUntil(() => !dev.isRunning(), waiting);
  expect(count('"msg":"stopped"')).toBe(2);
});
