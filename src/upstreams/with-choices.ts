import { isJsonObject } from '#base/json.ts';
import { mergeIterables } from '#base/merge-iterables.ts';
import { peek } from '#base/peek.ts';
import type { Chunk, Usage } from '#contract/chunk.ts';
import { Frame } from '#contract/frame.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';
import { addUp, toCount } from '#domain/usage/usage.ts';

/** Gives a protocol without `n` several choices (contract 5). */
export function withChoices(protocol: ChatProtocol): ChatProtocol {
  if (protocol.hasChoices) return protocol;
  return {
    ...protocol,
    hasChoices: true,
    chat(ask) {
      const { n = 1, ...request } = ask.request;
      return n === 1 ? protocol.chat(ask) : fanOut(n, ask.signal, (signal) => protocol.chat({ ...ask, request, signal }));
    },
  };
}

/** That many replies at once, merged under their own `choices[].index`, with their usage summed. One failure ends all. */
export async function* fanOut(
  n: number,
  signal: AbortSignal,
  reply: (signal: AbortSignal) => AsyncIterable<Frame>,
): AsyncIterable<Frame> {
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  const whole: Whole = { usages: new Map(), head: undefined };
  const replies = Array.from({ length: n }, (_, choice) => renumbered(reply(either), choice, whole));
  let last: Chunk | undefined;
  try {
    // A fault ahead of any first frame is told with its own status, or tried elsewhere, as that of a single reply is.
    for await (const frame of mergeIterables(await Promise.all(replies.map(peek)))) {
      last = frame.chunks.at(-1) ?? last;
      yield frame;
    }
  } finally {
    left.abort(new Error('the other choices are not wanted any more'));
  }
  const usages = [...whole.usages.values()];
  if (last !== undefined && usages.length > 0) yield Frame.ofChunks({ ...last, choices: [], usage: sumOf(usages) });
}

/** With what the replies tell of their caches and thoughts, which have prices of their own. */
function sumOf(usages: readonly Usage[]): Usage {
  const sum: Usage = { ...addUp(usages) };
  for (const key of ['prompt_tokens_details', 'completion_tokens_details']) {
    const details: Record<string, number> = {};
    for (const usage of usages) {
      for (const [name, value] of Object.entries(isJsonObject(usage[key]) ? usage[key] : {}))
        details[name] = (details[name] ?? 0) + toCount(value);
    }
    if (Object.keys(details).length > 0) sum[key] = details;
  }
  return sum;
}

/** What the replies make together. */
interface Whole {
  /** By choice. */
  readonly usages: Map<number, Usage>;
  /** Of the reply that was first: all go by its name. */
  head: Pick<Chunk, 'id' | 'created'> | undefined;
}

/** One reply as the choice of that index; its usage is kept aside. */
async function* renumbered(frames: AsyncIterable<Frame>, choice: number, whole: Whole): AsyncIterable<Frame> {
  for await (const frame of frames) {
    const chunks: Chunk[] = [];
    for (const { usage, ...chunk } of frame.chunks) {
      if (usage) whole.usages.set(choice, usage);
      whole.head ??= { id: chunk.id, created: chunk.created };
      const choices = chunk.choices.map((each) => ({ ...each, index: choice }));
      if (choices.length > 0) chunks.push({ ...chunk, ...whole.head, choices });
    }
    if (chunks.length > 0) yield Frame.ofChunks(...chunks);
  }
}
