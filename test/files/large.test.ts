import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callerKey } from '#test/start-service.ts';
import { openStore, startFiles, storeKinds } from './support.ts';

const mebibyte = 1024 ** 2;
const pieces = 200;
/** Maximum growth of this process, which also sends and receives the file. */
const maxGrowthBytes = 160 * mebibyte;
const headers = { 'api-key': callerKey };

/** Returns the nth piece of a file. Every piece has other bytes. */
function createPiece(index: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mebibyte).fill(index + 1);
}

/** Returns the maximum growth of this process's memory while `work` runs. */
async function measureGrowth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let maxRss = before;
  const watch = setInterval(() => {
    maxRss = Math.max(maxRss, process.memoryUsage.rss());
  }, 5);
  await work().finally(() => clearInterval(watch));
  return maxRss - before;
}

describe.each(storeKinds)('a file of 200 MiB in %s', (kind) => {
  it('is uploaded and downloaded without being buffered in memory', async () => {
    await using store = await openStore(kind);
    await using files = await startFiles({ blobs: store.blobs });
    const address = `${files.url}${files.base}/large`;
    // Excludes modules that are loaded once, such as the S3 client.
    await files.put('small', Buffer.alloc(6 * mebibyte));
    const sentHash = createHash('sha256');
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (next === pieces) return controller.close();
        const bytes = createPiece(next++);
        sentHash.update(bytes);
        controller.enqueue(bytes);
      },
    });
    const uploadGrowth = await measureGrowth(async () => {
      const put = await fetch(address, { method: 'PUT', headers, body, duplex: 'half' });
      expect(await put.json()).toMatchObject({ contentLength: pieces * mebibyte });
    });
    const receivedHash = createHash('sha256');
    const downloadGrowth = await measureGrowth(async () => {
      const response = await fetch(address, { headers });
      for await (const bytes of response.body ?? []) receivedHash.update(bytes);
    });
    expect(receivedHash.digest('hex')).toBe(sentHash.digest('hex'));
    expect(uploadGrowth).toBeLessThan(maxGrowthBytes);
    expect(downloadGrowth).toBeLessThan(maxGrowthBytes);
  });
});
