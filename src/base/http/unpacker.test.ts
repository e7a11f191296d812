import { brotliCompressSync, constants, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { HttpError } from './client.ts';
import { Unpacker } from './unpacker.ts';

const gzipFlush = { finishFlush: constants.Z_SYNC_FLUSH };
const brotliFlush = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** Records the calls of a listener in order. `ended` resolves with the last call. */
function record() {
  const calls: string[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const listener = {
    head: () => undefined,
    bytes: (text: string) => void calls.push(text),
    end: () => resolve(void calls.push('end')),
    fail: (error: HttpError) => resolve(void calls.push(`fail: ${error.kind}`)),
  };
  return { calls, ended, listener };
}

const noReading = { pauseReading: () => undefined, resumeReading: () => undefined, cancel: () => undefined };

describe('Unpacker', () => {
  it.each([
    ['gzip', gzipSync('one', gzipFlush)],
    ['br', brotliCompressSync('one', brotliFlush)],
    ['deflate', deflateRawSync('one', gzipFlush)],
  ])('delivers the content that arrived before the connection broke: %s', async (encoding, packed) => {
    const { calls, ended, listener } = record();
    const unpacker = new Unpacker(listener, noReading);
    unpacker.head(200, { 'content-encoding': encoding });
    unpacker.bytes(packed.toString('latin1'));
    unpacker.fail(new HttpError('closed', 'the connection closed'));
    await ended;
    expect(calls).toEqual(['one', 'fail: closed']);
  });

  it('reports the failure to a paused listener after it has read the content', async () => {
    const { calls, ended, listener } = record();
    const unpacker = new Unpacker(listener, noReading);
    unpacker.head(200, { 'content-encoding': 'gzip' });
    unpacker.pause();
    unpacker.bytes(gzipSync('one', gzipFlush).toString('latin1'));
    unpacker.fail(new HttpError('closed', 'the connection closed'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toEqual([]);
    unpacker.resume();
    await ended;
    expect(calls).toEqual(['one', 'fail: closed']);
  });

  it('reports the failure immediately if no content arrived', () => {
    const { calls, listener } = record();
    const unpacker = new Unpacker(listener, noReading);
    unpacker.head(200, { 'content-encoding': 'gzip' });
    unpacker.fail(new HttpError('closed', 'the connection closed'));
    expect(calls).toEqual(['fail: closed']);
  });

  it('reports only the first failure if the content is damaged as well', async () => {
    const { calls, ended, listener } = record();
    const unpacker = new Unpacker(listener, noReading);
    unpacker.head(200, { 'content-encoding': 'gzip' });
    unpacker.bytes('plain text');
    unpacker.fail(new HttpError('closed', 'the connection closed'));
    await ended;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toHaveLength(1);
  });
});
