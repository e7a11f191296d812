import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { delta, finish, hello } from '#test/chunks.ts';
import { startScriptedUpstream } from '#test/scripted-upstream.ts';
import { openStream } from '#test/send-request.ts';
import { callerKey, getChatPath, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Starts `npm start` in its own process group, as a shell does. Does not build the page. */
async function startNpm(folder: string, models: object) {
  const file = join(folder, 'parley.json');
  const configuration = { models, keys: { [callerKey]: { project: 'test' } } };
  await writeFile(file, JSON.stringify(configuration));
  const flags = ['--config', file, '--port', '0', '--data', join(folder, 'data')];
  const { PATH = '', HOME = '' } = process.env;
  const npm = spawn('npm', ['start', '--ignore-scripts', '--', ...flags], {
    cwd: root,
    env: { PATH, HOME, PARLEY_LAME_DUCK_MS: '0', NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/parley-compiled') },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const group = -(npm.pid ?? 0);
  const ended = once(npm, 'exit');
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await vi.waitUntil(() => output.includes('Parley listens on'), { timeout: 30_000, interval: 20 });
  const url = /Parley listens on (https?:\/\/[^\s,]+)/.exec(output)?.[1] ?? '';
  const isRunning = (): boolean => {
    try {
      return process.kill(group, 0);
    } catch {
      return false;
    }
  };
  const send = (target: 'npm' | 'the group', signal: NodeJS.Signals) =>
    target === 'npm' ? npm.kill(signal) : process.kill(group, signal);
  const clear = () => isRunning() && process.kill(group, 'SIGKILL');
  return { url, ended, isRunning, send, output: () => output, [Symbol.dispose]: clear };
}

it.each([
  ['SIGTERM', 'npm'],
  ['SIGINT', 'the group'],
] as const)('%s to %s stops npm start after its open stream has ended', async (signal, target) => {
  const continuation = Promise.withResolvers<void>();
  await using upstream = await startScriptedUpstream(async (exchange) => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant', content: 'before' }));
    await continuation.promise;
    await exchange.events(finish());
    exchange.done();
  });
  await using folder = await openFolder();
  using npm = await startNpm(folder.path, { m: { upstreams: [{ endpoint: upstream.endpoint }] } });
  const body = { stream: true, messages: hello };
  const reader = await openStream(npm.url, { path: getChatPath('m'), headers: withKey(), body });
  await reader.next();
  npm.send(target, signal);
  await vi.waitUntil(() => npm.output().includes('"msg":"stopping"'), { timeout: 10_000, interval: 10 });
  // If npm passed the signal on again, the process would end immediately. The pause leaves time for a second signal.
  await sleep(200);
  continuation.resolve();
  expect((await reader.readRest()).isDone).toBe(true);
  expect(await npm.ended).toEqual([0, null]);
  await vi.waitUntil(() => !npm.isRunning(), { timeout: 10_000, interval: 20 });
  expect(npm.output()).toContain('"msg":"stopped"');
});
