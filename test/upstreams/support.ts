import { readFileSync } from 'node:fs';
import { Accumulator } from '#contract/accumulate.ts';
import type { Completion } from '#contract/chunk.ts';
import type { Frame } from '#contract/frame.ts';
import { MessageReader } from '#upstreams/anthropic/message-reader.ts';
import { TranslatedEvents } from '#upstreams/anthropic/translated-events.ts';
import { type EventReader, readEvents } from '#upstreams/read-events.ts';

/** The bytes of a stream of the Messages dialect, as latin1 text. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/anthropic/${name}.sse`, import.meta.url), 'latin1');
}

async function* bodyOf(pieces: readonly string[]): AsyncIterable<string> {
  for (const piece of pieces) {
    await Promise.resolve();
    if (piece !== '') yield piece;
  }
}

/** The frames that the pieces give, and the fault they end in. */
export async function framesOf(pieces: readonly string[], reader: EventReader): Promise<{ frames: Frame[]; fault: unknown }> {
  const frames: Frame[] = [];
  try {
    for await (const frame of readEvents(bodyOf(pieces), reader)) frames.push(frame);
    return { frames, fault: undefined };
  } catch (fault) {
    return { frames, fault };
  }
}

/** A translated reply: its frames, and what they fold to. */
export async function translate(pieces: readonly string[]): Promise<{ frames: Frame[]; fault: unknown; folded: Completion }> {
  const { frames, fault } = await framesOf(pieces, new TranslatedEvents(new MessageReader(1_700_000_000, 'claude')));
  const whole = new Accumulator();
  for (const frame of frames) for (const chunk of frame.chunks) whole.add(chunk);
  return { frames, fault, folded: whole.completion() };
}
