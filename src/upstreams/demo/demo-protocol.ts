import { pipeFrom, pipeOneFrom } from '#base/stream/async-items.ts';
import { systemClock } from '#base/time/clock.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';

export interface DemoDeps {
  readonly embedder: Embedder;
  /** Milliseconds since the epoch. */
  readonly epochMs: () => number;
  readonly newId: () => string;
  /** Pause between the frames of a streamed reply, in milliseconds. Zero for none. */
  readonly paceMs: number;
}

/**
 * Creates an upstream inside the process. It answers by simple rules, needs no network, and shows all parts of a reply. The rules are
 * loaded with the first call.
 */
export function createDemoProtocol(deps: DemoDeps): ChatProtocol {
  const { embedder, epochMs, newId, paceMs } = deps;
  return {
    supportsSeveralChoices: false,
    chat: (attempt, sink) =>
      pipeFrom(async function* (signal) {
        const { createDemoReply } = await import('./demo-reply.ts');
        const { request, upstream } = attempt;
        const head = { id: `chatcmpl-${newId()}`, object: 'chat.completion.chunk', model: upstream.model } as const;
        const pauseMs = request.stream === true ? paceMs : 0;
        for await (const part of createDemoReply(request, deps, signal)) {
          signal.throwIfAborted();
          yield Frame.ofChunks({ ...head, created: Math.floor(epochMs() / 1000), ...part });
          if (pauseMs > 0) await systemClock.sleep(pauseMs, signal);
        }
      }, sink),
    embed: ({ request }, sink) =>
      pipeOneFrom(async (signal) => (await import('./demo-embeddings.ts')).embed(request, embedder, signal), sink),
  };
}
