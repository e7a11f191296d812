import { randomUUID } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { get } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const configuration = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };
const headers = { 'api-key': callerKey };
const daysAgo = new Date(Date.now() - 2 * 86_400_000);

async function putFile(node: TestProcess, name: string): Promise<string> {
  const { bucket } = (await get(node, '/v1/bucket')).json as { bucket: string };
  const path = `/v1/files/${bucket}/${name}`;
  expect((await node.sendRequest({ method: 'PUT', path, headers, body: name })).status).toBe(200);
  return path;
}

describe('node that starts', () => {
  it('deletes only old contents that no file uses', async () => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const contents = join(folder, 'files');
    const start = () => startProcess({ configuration, flags: ['--data', folder] });
    let path = '';
    {
      await using node = await start();
      path = await putFile(node, 'kept.txt');
    }
    const [used = expect.unreachable()] = await readdir(contents);
    const [orphan, young, foreign] = [randomUUID(), randomUUID(), 'notes.txt'];
    for (const name of [orphan, young, foreign]) await writeFile(join(contents, name), name);
    for (const name of [used, orphan, foreign]) await utimes(join(contents, name), daysAgo, daysAgo);
    await using node = await start();
    await node.untilOutput(/deleted 1 unused file contents/);
    expect((await readdir(contents)).sort()).toEqual([used, young, foreign].sort());
    expect((await get(node, path)).text).toBe('kept.txt');
  });
});
