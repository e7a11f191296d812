import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { demo } from './entries-cluster.ts';

const configuration = {
  models: { file: demo },
  applications: { app: { endpoint: 'https://app.example/chat', dependencies: ['missing'] } },
  keys: { [callerKey]: { project: 'test', role: 'admin' } },
};
let folder: Awaited<ReturnType<typeof openFolder>>;
beforeEach(async () => {
  folder = await openFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());
const start = () => startProcess({ configuration, flags: ['--data', folder.path] });
const send = (node: TestProcess, method: string, path: string, body?: object) =>
  node.sendRequest({ method, path: `/v1/admin/${path}`, headers: withKey(), ...(body && { body }) });

describe('a node with entries that are created at run time', () => {
  it('stores a document completely or not at all if it is killed', async () => {
    const count = 1000;
    const document = (round: number) => ({
      models: Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${round}-${index}`, demo])),
    });
    let stored = 0;
    for (const [round, delayMs] of [150, 300, 450].entries()) {
      await using node = await start();
      const applied = send(node, 'POST', 'apply', document(round)).catch(() => undefined);
      await wait(delayMs);
      node.kill('SIGKILL');
      await node.ended;
      const isApplied = (await applied)?.status === 200;
      await using restarted = await start();
      const { models = {} } = (await send(restarted, 'GET', 'export')).json as { models?: object };
      const added = Object.keys(models).length - stored;
      expect(isApplied ? [count] : [0, count]).toContain(added);
      stored += added;
    }
  });

  it('logs a warning about the files once, not after each change', async () => {
    await using node = await start();
    for (const id of ['one', 'two', 'three']) expect((await send(node, 'PUT', `models/${id}`, demo)).status).toBe(201);
    node.kill('SIGTERM');
    const { stdout, stderr } = await node.ended;
    expect((stdout + stderr).split('applications.app.dependencies[0]')).toHaveLength(2);
  });
});
