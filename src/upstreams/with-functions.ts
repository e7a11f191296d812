import type { Handle, Sink } from '#base/sink.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import { FunctionCallReply } from '#contract/function-call-reply.ts';
import { toToolsRequest, usesFunctions } from '#contract/function-calling.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';

/** Lets callers use `functions` with a protocol that only knows `tools`. */
export function withFunctions(protocol: ChatProtocol): ChatProtocol {
  return {
    ...protocol,
    chat(ask, reply) {
      if (!usesFunctions(ask.request)) return protocol.chat(ask, reply);
      return inToolForm(ask.request, reply, (request, toolReply) => protocol.chat({ ...ask, request }, toolReply));
    },
  };
}

/** Asks in the form of tools whatever form the request has, and gives the reply in the form of the request. */
export function inToolForm(
  request: ChatRequest,
  reply: Sink<RawFrame>,
  ask: (request: ChatRequest, reply: Sink<RawFrame>) => Handle,
): Handle {
  return usesFunctions(request) ? ask(toToolsRequest(request), new FunctionCallSink(reply)) : ask(request, reply);
}

class FunctionCallSink implements Sink<RawFrame> {
  readonly #converter = new FunctionCallReply();
  readonly #next: Sink<RawFrame>;

  constructor(next: Sink<RawFrame>) {
    this.#next = next;
  }

  frame(frame: RawFrame): void {
    this.#next.frame(Frame.ofRawChunks(...frame.chunks.map((chunk) => this.#converter.toFunctionCall(chunk))));
  }

  end(): void {
    this.#next.end();
  }

  fail(error: unknown): void {
    this.#next.fail(error);
  }
}
