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

/** Returns the content of each numbered file in a folder, or undefined if the file does not exist. */
async function readAll(node: TestProcess, bucket: string, folder: string): Promise<(string | undefined)[]> {
  const contents: (string | undefined)[] = [];
  for (const nth of numbers) {
    const { status, text } = await send(node, 'GET', `/v1/files/${bucket}/${folder}/${nth}`);
    expect([200, 404]).toContain(status);
    contents.push(status === 200 ? text : undefined);
  }
  return contents;
}

const numbers = Array.from({ length: count }, (_, nth) => nth);
const isCopied = (nth: number): boolean => nth % 4 === 1;
const isOccupied = (nth: number): boolean => nth % 3 === 0;

/** Stores files to move and copy. Some destinations already have a file. */
async function fill(node: TestProcess, bucket: string): Promise<void> {
  for (const nth of numbers) {
    await send(node, 'PUT', `/v1/files/${bucket}/from/${nth}`, `source ${nth}`);
    if (isOccupied(nth)) await send(node, 'PUT', `/v1/files/${bucket}/to/${nth}`, `replaced ${nth}`);
  }
}

/** Moves and copies all files concurrently. Kills the node after `maxAnswered` responses and returns their numbers. */
async function relocateAndKill(node: TestProcess, bucket: string, maxAnswered: number): Promise<ReadonlySet<number>> {
  const answeredNumbers = new Set<number>();
  const operations = numbers.map(async (nth) => {
    const urls = { sourceUrl: `files/${bucket}/from/${nth}`, destinationUrl: `files/${bucket}/to/${nth}` };
    const path = `/v1/ops/resource/${isCopied(nth) ? 'copy' : 'move'}`;
    const { status } = await send(node, 'POST', path, { ...urls, overwrite: true });
    expect(status).toBe(200);
    answeredNumbers.add(nth);
    if (answeredNumbers.size === maxAnswered) node.kill('SIGKILL');
  });
  await Promise.allSettled(operations);
  expect((await node.ended).signal).toBe('SIGKILL');
  return answeredNumbers;
}

describe('a node that is killed during moves and copies', () => {
  it.each([10, 20, 30])('loses no file and keeps every answered operation: killed after %i responses', async (maxAnswered) => {
    await using data = await openFolder();
    const options = { configuration: {}, flags: ['--data', data.path] };
    const victim = await startProcess(options);
    const { bucket } = (await send(victim, 'GET', '/v1/bucket')).json as { bucket: string };
    await fill(victim, bucket);
    const answeredNumbers = await relocateAndKill(victim, bucket, maxAnswered);

    await using node = await startProcess(options);
    const from = await readAll(node, bucket, 'from');
    const to = await readAll(node, bucket, 'to');
    const isMoved = (nth: number): boolean => to[nth] === `source ${nth}`;
    expect([...answeredNumbers].filter((nth) => !isMoved(nth))).toEqual([]);
    for (const nth of numbers.filter(isMoved)) expect(from[nth]).toBe(isCopied(nth) ? `source ${nth}` : undefined);
    for (const nth of numbers.filter((each) => !isMoved(each)))
      expect([from[nth], to[nth]]).toEqual([`source ${nth}`, isOccupied(nth) ? `replaced ${nth}` : undefined]);
  });
});
