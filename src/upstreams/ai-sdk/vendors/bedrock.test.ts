import { encodeEventStreamMessage } from '@copilotkit/aimock';
import { describe, expect, it } from 'vitest';
import { alignFrames } from './bedrock.ts';

const type = 'application/vnd.amazon.eventstream';

function respond(pieces: readonly Uint8Array[], contentType = type): Response {
  return alignFrames(new Response(ReadableStream.from(pieces), { headers: { 'content-type': contentType } }));
}

async function piecesOf({ body }: Response): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of body ?? []) pieces.push(Buffer.from(piece));
  return pieces;
}

const frames = ['one', 'two', 'three'].map((text) => encodeEventStreamMessage('contentBlockDelta', { text: text.repeat(100) }));
const whole = Buffer.concat(frames);

describe('a stream of frames', () => {
  it.each([1, 7, 12, 13, 500, whole.length])('that comes in pieces of %d bytes is passed on in whole frames', async (size) => {
    const cut = Array.from({ length: Math.ceil(whole.length / size) }, (_, nth) => whole.subarray(nth * size, (nth + 1) * size));
    const came = await piecesOf(respond(cut));
    expect(Buffer.concat(came).equals(whole)).toBe(true);
    const ends = frames.map((_, nth) => Buffer.concat(frames.slice(0, nth + 1)).length);
    let at = 0;
    for (const piece of came) {
      at += piece.length;
      expect(ends).toContain(at);
    }
  });

  it('keeps what is left of a frame at its end', async () => {
    expect(Buffer.concat(await piecesOf(respond([whole.subarray(0, -5)])))).toEqual(whole.subarray(0, -5));
  });

  it.each([0, 15, 16 * 2 ** 20 + 1, 0x61616161])('is a fault with a frame of %d bytes', async (length) => {
    const prelude = Buffer.alloc(12);
    prelude.writeUInt32BE(length);
    await expect(piecesOf(respond([whole, prelude]))).rejects.toThrow(`says that it has ${length} bytes`);
  });

  it('of another type is as it was', async () => {
    expect(Buffer.concat(await piecesOf(respond([Buffer.from('aaaaaaaaaaaaaaaaaaaa')], 'text/event-stream')))).toHaveLength(20);
  });
});
