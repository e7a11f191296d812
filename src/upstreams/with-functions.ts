import type { ChatRequest } from '#contract/chat-request.ts';
import { Frame } from '#contract/frame.ts';
import { FunctionCallReply } from '#contract/function-call-reply.ts';
import { toToolsRequest, usesFunctions } from '#contract/function-calling.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';

/** Lets callers use `functions` with a protocol that only knows `tools` (contract 5). */
export function withFunctions(protocol: ChatProtocol): ChatProtocol {
  return { ...protocol, chat: (ask) => inToolForm(ask.request, (request) => protocol.chat({ ...ask, request })) };
}

/** Asks in the form of tools whatever form the request has, and gives the reply in the form of the request. */
export function inToolForm(request: ChatRequest, ask: (request: ChatRequest) => AsyncIterable<Frame>): AsyncIterable<Frame> {
  return usesFunctions(request) ? toFunctionCalls(ask(toToolsRequest(request))) : ask(request);
}

async function* toFunctionCalls(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
  const reply = new FunctionCallReply();
  for await (const frame of frames) yield Frame.ofChunks(...frame.chunks.map((chunk) => reply.toFunctionCall(chunk)));
}
