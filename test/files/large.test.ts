import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { openStore, startFiles, storeKinds } from './support.ts';

const mebibyte = 1024 ** 2;
const pieces = 200;
/** Of this process, which sends and receives the file as well. */
const mostGrowthBytes = 160 * mebibyte;
const headers = { 'api-key': callerKey };

/** The nth piece of a file, told from the others. */
function piece(index: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mebibyte).fill(index + 1);
}

/** How far the memory of this process grows at most while something runs. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  await work().finally(() => clearInterval(watch));
  return most - before;
}

describe.each(storeKinds)('a file of 200 MiB in %s', (kind) => {
  it('goes up and down without being held in memory', { timeout: 120_000 }, async () => {
    await using store = await openStore(kind);
    await using files = await startFiles({ blobs: store.blobs });
    const address = `${files.url}${files.base}/large`;
    // What is loaded once, such as the client of S3, is no part of it.
    await files.put('small', Buffer.alloc(6 * mebibyte));
    const sent = createHash('sha256');
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (next === pieces) return controller.close();
        const bytes = piece(next++);
        sent.update(bytes);
        controller.enqueue(bytes);
      },
    });
    const up = await growthDuring(async () => {
      const put = await fetch(address, { method: 'PUT', headers, body, duplex: 'half' });
      expect(await put.json()).toMatchObject({ contentLength: pieces * mebibyte });
    });
    const received = createHash('sha256');
    const down = await growthDuring(async () => {
      const got = await fetch(address, { headers });
      for await (const bytes of got.body ?? []) received.update(bytes);
    });
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    expect(up).toBeLessThan(mostGrowthBytes);
    expect(down).toBeLessThan(mostGrowthBytes);
  });
});
