import { describe, expect, it, vi } from 'vitest';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

const count = 60;

function send(node: TestProcess, method: string, path: string, body?: unknown): Promise<TestResponse> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const headers = { 'api-key': callerKey, ...(body !== undefined && { 'content-type': type }) };
  return sendRequest(node.url, { method, path, headers, body });
}

/** The content of each number in a folder; undefined where nothing is. */
async function readAll(node: TestProcess, bucket: string, folder: string): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (const nth of numbers) {
    const { status, text } = await send(node, 'GET', `/v1/files/${bucket}/${folder}/${nth}`);
    expect([200, 404]).toContain(status);
    found.push(status === 200 ? text : undefined);
  }
  return found;
}

const numbers = Array.from({ length: count }, (_, nth) => nth);
const isCopied = (nth: number): boolean => nth % 4 === 1;
const isTaken = (nth: number): boolean => nth % 3 === 0;

/** Files to be moved and copied, some to where others are. */
async function fill(node: TestProcess, bucket: string): Promise<void> {
  for (const nth of numbers) {
    await send(node, 'PUT', `/v1/files/${bucket}/from/${nth}`, `source ${nth}`);
    if (isTaken(nth)) await send(node, 'PUT', `/v1/files/${bucket}/to/${nth}`, `replaced ${nth}`);
  }
}

/** Moves and copies all at once, and kills the node when so many are answered. Gives those that were. */
async function relocateAndKill(node: TestProcess, bucket: string, most: number): Promise<ReadonlySet<number>> {
  const answered = new Set<number>();
  const asking = numbers.map(async (nth) => {
    const urls = { sourceUrl: `files/${bucket}/from/${nth}`, destinationUrl: `files/${bucket}/to/${nth}` };
    const path = `/v1/ops/resource/${isCopied(nth) ? 'copy' : 'move'}`;
    const { status } = await send(node, 'POST', path, { ...urls, overwrite: true });
    expect(status).toBe(200);
    answered.add(nth);
    if (answered.size === most) node.kill('SIGKILL');
  });
  await Promise.allSettled(asking);
  expect((await node.ended).signal).toBe('SIGKILL');
  return answered;
}

describe('a node that is killed among moves and copies', () => {
  it.each([10, 20, 30])('has lost nothing, and has what it answered for: after %i', async (most) => {
    await using data = await openFolder();
    const options = { configuration: {}, flags: ['--data', data.path] };
    const victim = await startProcess(options);
    const { bucket } = (await send(victim, 'GET', '/v1/bucket')).json as { bucket: string };
    await fill(victim, bucket);
    const answered = await relocateAndKill(victim, bucket, most);

    await using node = await startProcess(options);
    const from = await readAll(node, bucket, 'from');
    const to = await readAll(node, bucket, 'to');
    const isMoved = (nth: number): boolean => to[nth] === `source ${nth}`;
    expect([...answered].filter((nth) => !isMoved(nth))).toEqual([]);
    for (const nth of numbers.filter(isMoved)) expect(from[nth]).toBe(isCopied(nth) ? `source ${nth}` : undefined);
    for (const nth of numbers.filter((each) => !isMoved(each)))
      expect([from[nth], to[nth]]).toEqual([`source ${nth}`, isTaken(nth) ? `replaced ${nth}` : undefined]);
  });
});
