import { encodeEventStreamMessage } from '@copilotkit/aimock';
import { describe, expect, it } from 'vitest';
import { alignFrames } from './bedrock.ts';

const eventStreamType = 'application/vnd.amazon.eventstream';

function respond(chunks: readonly Uint8Array[], contentType = eventStreamType): Response {
  return alignFrames(new Response(ReadableStream.from(chunks), { headers: { 'content-type': contentType } }));
}

async function readChunks({ body }: Response): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of body ?? []) chunks.push(Buffer.from(chunk));
  return chunks;
}

const frames = ['one', 'two', 'three'].map((text) => encodeEventStreamMessage('contentBlockDelta', { text: text.repeat(100) }));
const allFrames = Buffer.concat(frames);

describe('alignFrames', () => {
  it.each([1, 7, 12, 13, 500, allFrames.length])('joins chunks of %d bytes to complete frames', async (size) => {
    const count = Math.ceil(allFrames.length / size);
    const input = Array.from({ length: count }, (_, index) => allFrames.subarray(index * size, (index + 1) * size));
    const output = await readChunks(respond(input));
    expect(Buffer.concat(output).equals(allFrames)).toBe(true);
    const ends = frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length);
    let position = 0;
    for (const chunk of output) {
      position += chunk.length;
      expect(ends).toContain(position);
    }
  });

  it('passes an incomplete frame at the end of the stream', async () => {
    expect(Buffer.concat(await readChunks(respond([allFrames.subarray(0, -5)])))).toEqual(allFrames.subarray(0, -5));
  });

  it.each([0, 15, 16 * 2 ** 20 + 1, 0x61616161])('fails for a frame of %d bytes', async (length) => {
    const prelude = Buffer.alloc(12);
    prelude.writeUInt32BE(length);
    await expect(readChunks(respond([allFrames, prelude]))).rejects.toThrow(`length of ${length} bytes is invalid`);
  });

  it('returns a response of another type unchanged', async () => {
    expect(Buffer.concat(await readChunks(respond([Buffer.from('aaaaaaaaaaaaaaaaaaaa')], 'text/event-stream')))).toHaveLength(20);
  });
});
