import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { isContextFault } from '#domain/upstreams/is-context-fault.ts';
import type { ContextWindow } from './context-window.ts';

/** Asks a model within its window. If it refuses a request as too long all the same, something is taken out and it is asked once more. */
export async function* askWithin(
  window: ContextWindow,
  ask: (request: ChatRequest) => AsyncIterable<Frame>,
  request: ChatRequest,
): AsyncIterable<Frame> {
  let hasBegun = false;
  let smaller: ChatRequest | undefined;
  try {
    for await (const frame of ask(await window.fit(request))) {
      hasBegun = true;
      yield frame;
    }
    return;
  } catch (thrown) {
    if (!hasBegun && isContextFault(thrown)) smaller = await window.shrink(request);
    if (smaller === undefined) throw thrown;
  }
  yield* ask(smaller);
}
