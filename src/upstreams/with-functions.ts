import { FunctionCallReply } from '#contract/function-call-reply.ts';
import { toToolsRequest, usesFunctions } from '#contract/function-calling.ts';
import { Frame } from '#contract/frame.ts';
import type { Ask, ChatProtocol } from '#domain/upstream.ts';

/** Lets callers use `functions` with a protocol that only knows `tools`: translated both ways (contract 5). */
export function withFunctions(protocol: ChatProtocol): ChatProtocol {
  return { ...protocol, chat: (ask) => (usesFunctions(ask.request) ? inOldForm(protocol, ask) : protocol.chat(ask)) };
}

async function* inOldForm(protocol: ChatProtocol, ask: Ask): AsyncIterable<Frame> {
  const reply = new FunctionCallReply();
  for await (const frame of protocol.chat({ ...ask, request: toToolsRequest(ask.request) })) {
    yield Frame.ofChunks(...frame.chunks.map((chunk) => reply.toFunctionCall(chunk)));
  }
}
