import { describe, expect, it } from 'vitest';
import { startFilesOnDisk } from './support.ts';

describe('the files section of the configuration', () => {
  it('limits the size of a file and of a bucket, also after a reload', async () => {
    await using files = await startFilesOnDisk({}, { files: { maxFileBytes: 1000, maxBucketBytes: 1500 } });
    const put = async (path: string, bytes: number) => (await files.put(path, 'x'.repeat(bytes))).status;
    expect(await put('large.txt', 1001)).toBe(413);
    expect(await put('a.txt', 1000)).toBe(200);
    expect(await put('b.txt', 600)).toBe(413);
    files.service.reload({ models: {}, files: { maxFileBytes: 2000, maxBucketBytes: 3000 } });
    expect(await put('b.txt', 1800)).toBe(200);
    expect(await put('c.txt', 600)).toBe(413);
  });
});
