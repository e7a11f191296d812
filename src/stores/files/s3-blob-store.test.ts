import fastCheck from 'fast-check';
import '#test/same-cases.ts';
import { expect, it } from 'vitest';
import { toParts } from './s3-blob-store.ts';

async function* from(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

it('cuts bytes into parts of one size, whatever pieces they come in', async () => {
  const pieces = fastCheck.array(fastCheck.uint8Array({ maxLength: 30 }), { maxLength: 12 });
  await fastCheck.assert(
    fastCheck.asyncProperty(pieces, fastCheck.integer({ min: 1, max: 20 }), async (given, partBytes) => {
      const parts: Buffer[] = [];
      for await (const part of toParts(from(given), partBytes)) parts.push(part);
      expect(Buffer.concat(parts).equals(Buffer.concat(given))).toBe(true);
      for (const part of parts.slice(0, -1)) expect(part.length).toBe(partBytes);
      expect(parts.every(({ length }) => length > 0 && length <= partBytes)).toBe(true);
    }),
  );
});
