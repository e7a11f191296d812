import fastCheck from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { StoreError } from '#domain/store-error.ts';
import { openScriptedS3 } from '#test/scripted-s3.ts';
import { type Reply, silence } from '#test/scripted-upstream.ts';
import { toParts } from './s3-blob-store.ts';

async function* from(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

it('toParts splits bytes into parts of equal size, regardless of the input pieces', async () => {
  const pieces = fastCheck.array(fastCheck.uint8Array({ maxLength: 30 }), { maxLength: 12 });
  await fastCheck.assert(
    fastCheck.asyncProperty(pieces, fastCheck.integer({ min: 1, max: 20 }), async (input, partBytes) => {
      const parts: Buffer[] = [];
      for await (const part of toParts(from(input), partBytes)) parts.push(part);
      expect(Buffer.concat(parts).equals(Buffer.concat(input))).toBe(true);
      for (const part of parts.slice(0, -1)) expect(part.length).toBe(partBytes);
      expect(parts.every(({ length }) => length > 0 && length <= partBytes)).toBe(true);
    }),
  );
});

async function* bytes(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('S3BlobStore', () => {
  it('rejects with StoreError if the server never answers', async () => {
    await using s3 = await openScriptedS3(silence);
    const { store } = s3;
    const operations = [store.read('a', undefined), store.write('a', bytes('x')), store.delete('a')];
    for (const outcome of await Promise.allSettled(operations))
      expect(outcome).toEqual({ status: 'rejected', reason: expect.any(StoreError) });
    expect(s3.upstream.requests.length).toBe(9);
  }, 15_000);

  it('rejects with StoreError if access is denied', async () => {
    const denied: Reply = ({ response }) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    await using s3 = await openScriptedS3(denied);
    await expect(s3.store.read('a', undefined)).rejects.toThrow(StoreError);
  });

  it('rejects with StoreError if the bucket does not exist', async () => {
    const absent: Reply = ({ response }) => void response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    await using s3 = await openScriptedS3(absent);
    await expect(s3.store.read('a', undefined)).rejects.toThrow(StoreError);
  });

  it('sends the name with its prefix and no secret', async () => {
    const ok: Reply = ({ response }) => void response.writeHead(200).end();
    await using s3 = await openScriptedS3(ok);
    await s3.store.write('name', bytes('content'));
    const [received] = s3.upstream.requests;
    expect(received).toMatchObject({ method: 'PUT', path: expect.stringMatching(/^\/bucket\/p\/name(\?|$)/), text: 'content' });
    expect(JSON.stringify(received?.headers)).not.toContain('canary');
  });
});
