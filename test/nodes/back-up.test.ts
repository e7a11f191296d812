import { execFile } from 'node:child_process';
import { cp, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { demoQuickApp, get, toConfiguration } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const program = fileURLToPath(new URL('../../scripts/back-up.ts', import.meta.url));
const consentPath = '/v1/consent/app';

function backUp(from: string, to: string): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, [program, from, to]);
}

function put(node: TestProcess, path: string, body: unknown): Promise<TestResponse> {
  return node.sendRequest({ method: 'PUT', path, headers: withKey(), body });
}

it('a backup of a running node is a complete copy of one point in time', async () => {
  await using temporary = await openFolder();
  const { path: folder } = temporary;
  const [data, target, restored] = [join(folder, 'data'), join(folder, 'copy'), join(folder, 'restored')];
  const configuration = toConfiguration('http://127.0.0.1:9');
  await using node = await startProcess({ configuration, flags: ['--data', data] });
  const { bucket } = (await get(node, '/v1/bucket')).json as { bucket: string };
  const { consent } = (await get(node, consentPath)).json as { consent: ConsentForm };
  expect((await sendRequest(node.url, { path: consentPath, headers: withKey(), body: { consent } })).status).toBe(200);
  const application = `/v1/applications/${bucket}/kept`;
  expect((await put(node, application, demoQuickApp)).status).toBe(201);
  expect((await put(node, `/v1/files/${bucket}/kept.txt`, 'kept')).status).toBe(200);

  let isDone = false;
  const writes = (async () => {
    for (let count = 0; !isDone; count += 1)
      expect((await put(node, `/v1/files/${bucket}/changing/${count % 5}.txt`, `${count}`)).status).toBe(200);
  })();
  for (let round = 0; round < 3; round += 1) expect((await backUp(data, target)).stdout).toMatch(/^\d+ files and the database/);
  isDone = true;
  await writes;
  for (const wrong of [data, `${data}/.`, join(folder, 'none'), target])
    await expect(backUp(wrong, data)).rejects.toMatchObject({ code: 2 });

  expect((await stat(join(target, 'parley.db'))).mode & 0o777).toBe(0o600);
  await cp(target, restored, { recursive: true });
  await using restoredNode = await startProcess({ configuration, flags: ['--data', restored] });
  expect((await get(restoredNode, consentPath)).json).toEqual({ accepted: true });
  expect((await get(restoredNode, application)).json).toMatchObject({ displayName: demoQuickApp.displayName });
  expect((await get(restoredNode, `/v1/files/${bucket}/kept.txt`)).text).toBe('kept');
  const listing = await get(restoredNode, `/v1/metadata/files/${bucket}/?recursive=true`);
  const { items } = listing.json as { items: { url: string }[] };
  for (const { url } of items) expect((await get(restoredNode, `/v1/${url}`)).status).toBe(200);
  expect(await readdir(join(restored, 'files'))).toHaveLength(items.length);
});
