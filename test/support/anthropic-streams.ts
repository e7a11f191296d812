import { readFileSync } from 'node:fs';
import type { Chunk, Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { TranslatedEvents } from '#upstreams/anthropic/event-readers.ts';
import { MessageReader } from '#upstreams/anthropic/message-reader.ts';
import { readFrames } from './streamed-reply.ts';

/** Reads a recorded stream of the Messages dialect as latin1 text. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/anthropic/${name}.sse`, import.meta.url), 'latin1');
}

/** Translates the pieces of a reply. Returns its frames and the completion that they fold to. */
export async function translate(
  pieces: readonly string[],
): Promise<{ frames: readonly RawFrame[]; error: unknown; folded: Completion }> {
  const { frames, error } = await readFrames(pieces, new TranslatedEvents(new MessageReader(1_700_000_000, 'claude')));
  const accumulator = new Accumulator();
  for (const frame of frames) for (const chunk of frame.chunks) accumulator.add(chunk as unknown as Chunk);
  return { frames, error, folded: accumulator.getCompletion() };
}
