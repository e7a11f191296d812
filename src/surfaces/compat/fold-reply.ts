import { One } from '#base/one.ts';
import { peek } from '#base/peek.ts';
import { Accumulator } from '#contract/accumulate.ts';
import { answerBound, withinBytes } from '#contract/fold-frames.ts';
import { Frame } from '#contract/frame.ts';

/** The JSON answer: the same chunks folded (contract 5), as latin1 bytes. A reply that came whole passes with its bytes. */
export async function foldReply(frames: AsyncIterable<Frame>): Promise<string> {
  const reply = await peek(frames);
  if (reply instanceof One && reply.item.completion !== undefined) return reply.item.bytes;
  let whole: Frame | undefined;
  let accumulator: Accumulator | undefined;
  for await (const frame of withinBytes(reply, answerBound)) {
    if (whole === undefined && accumulator === undefined && frame.completion !== undefined) {
      whole = frame;
      continue;
    }
    accumulator ??= startedWith(whole);
    for (const chunk of frame.chunks) accumulator.add(chunk);
  }
  if (accumulator === undefined && whole !== undefined) return whole.bytes;
  return Frame.ofCompletion((accumulator ?? new Accumulator()).completion()).bytes;
}

function startedWith(whole: Frame | undefined): Accumulator {
  const accumulator = new Accumulator();
  for (const chunk of whole?.chunks ?? []) accumulator.add(chunk);
  return accumulator;
}
