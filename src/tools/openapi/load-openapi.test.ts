import { describe, expect, it } from 'vitest';
import { OpenApiReader } from './load-openapi.ts';

const lines = (count: number, line: (nth: number) => string): string =>
  Array.from({ length: count }, (_, nth) => line(nth)).join('\n');

describe('OpenApiReader', () => {
  it.each([
    ['time', { timeoutMs: 200, maxMemoryMb: 320 }, 'reading it failed: it took more than 0.2 s'],
    ['memory', { timeoutMs: 60_000, maxMemoryMb: 75 }, 'reading it failed: it needs more than 75 MiB'],
  ])('rejects a document that needs too much %s, and reads the next one', async (_what, bounds, message) => {
    const text = lines(100_000, (nth) => `k${nth}: ${nth}`);
    const read = (reader: OpenApiReader, document: string) =>
      reader.readDocument({ text: document, url: new URL('none:/'), selection: {}, owner: 'a' });
    await expect(read(new OpenApiReader(bounds), text)).rejects.toThrow(message);
    const small = JSON.stringify({ openapi: '3.1.0', info: { title: 'Shop', version: '1' }, paths: {} });
    expect(await read(new OpenApiReader(), small)).toEqual({ kind: 'toolsets', imported: { toolsets: [], notes: [] } });
  });
});
