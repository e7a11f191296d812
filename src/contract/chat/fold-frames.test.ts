import { describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import type { Chunk } from './chunk.ts';
import { foldFrames } from './fold-frames.ts';
import { Frame } from './frame.ts';

const tooLarge = 'Too much.';

describe('frames that are folded', () => {
  it('are the whole reply, each chunk told and waited for before the next', async () => {
    const heard: string[] = [];
    async function* reply(): AsyncIterable<Frame> {
      yield Frame.ofChunks(delta({ role: 'assistant', content: '' }), text('Hel'));
      heard.push('next');
      yield Frame.ofChunks(text('lo'), finish());
    }
    const onChunk = async ({ choices }: Chunk): Promise<void> => {
      await Promise.resolve();
      heard.push(choices[0]?.delta.content ?? 'end');
    };
    const { choices } = await foldFrames(reply(), { maxBytes: 10_000, claim: tooLarge }, onChunk);
    expect(choices).toEqual([{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]);
    expect(heard).toEqual(['', 'Hel', 'next', 'lo', 'end']);
  });

  it('may have so many bytes and no more: their source is told to stop', async () => {
    const frame = Frame.ofChunks(text('Hello'));
    let hasStopped = false;
    async function* endless(): AsyncIterable<Frame> {
      try {
        for (;;) yield frame;
      } finally {
        hasStopped = true;
      }
    }
    const fault = { code: 'upstream_failed', message: tooLarge };
    await expect(foldFrames(endless(), { maxBytes: 3 * frame.bytes.length, claim: tooLarge })).rejects.toMatchObject(fault);
    expect(hasStopped).toBe(true);
  });
});
