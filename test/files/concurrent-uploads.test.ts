import { request as openRequest } from 'node:http';
import { expect, it, vi } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { callerKey } from '#test/start-service.ts';
import { type StoredFileService, startFilesOnDisk } from './support.ts';

const keys = { [callerKey]: { project: 'test' }, other: { project: 'other' } };

/** Starts an upload that does not end before `end` is called. */
function startUpload(
  files: StoredFileService,
  name: string,
): { end(): void; destroy(): void; readonly status: Promise<number | undefined> } {
  const request = openRequest(`${files.url}${files.base}/${name}`, { method: 'PUT', headers: { 'api-key': callerKey } });
  const status = new Promise<number | undefined>((resolve) => {
    request.on('response', (response) => resolve(response.resume().statusCode)).on('error', () => resolve(undefined));
  });
  request.write('x');
  return { end: () => request.end(), destroy: () => request.destroy(), status };
}

it('slow uploads of one user do not prevent other users from storing files', async () => {
  await using files = await startFilesOnDisk({ maxBucketUploads: 2 }, { keys });
  const slow = [startUpload(files, 'one'), startUpload(files, 'two')] as const;
  await vi.waitUntil(async () => (await files.store.names()).length === 2, { timeout: 10_000 });
  const rejected = await files.put('three', 'x');
  expect([rejected.status, rejected.error.code, rejected.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
  const otherPath = `/v1/files/${getBucket('key:other')}/three`;
  expect(
    (await files.service.sendRequest({ method: 'PUT', path: otherPath, headers: { 'api-key': 'other' }, body: 'x' })).status,
  ).toBe(200);
  slow[0].end();
  expect(await slow[0].status).toBe(200);
  expect((await files.put('three', 'x')).status).toBe(200);
  slow[1].destroy();
  await slow[1].status;
  const isStored = async (name: string): Promise<boolean> => (await files.put(name, 'x')).status === 200;
  await vi.waitUntil(async () => (await Promise.all([isStored('four'), isStored('five')])).every(Boolean), { timeout: 10_000 });
});
