import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { FunctionCallReply, toToolsRequest, usesFunctions } from '#contract/chat/function-calling.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';
import { NormalizedCalls } from './normalized-calls.ts';

/** Adds support for `functions` to a protocol that only has `tools`. `newId` returns a random ID. */
export function withFunctions(protocol: ChatProtocol, newId: () => string): ChatProtocol {
  return {
    ...protocol,
    chat(attempt, reply) {
      if (!usesFunctions(attempt.request)) return protocol.chat(attempt, reply);
      return sendWithTools(attempt.request, { reply, newId }, (request, toolReply) =>
        protocol.chat({ ...attempt, request }, toolReply),
      );
    },
  };
}

interface ReplyOptions {
  readonly reply: Sink<RawFrame>;
  readonly newId: () => string;
}

/** Sends a request with `functions` as a request with `tools`. Converts the tool calls of the reply to function calls. */
export function sendWithTools(
  request: ChatRequest,
  { reply, newId }: ReplyOptions,
  send: (request: ChatRequest, reply: Sink<RawFrame>) => Handle,
): Handle {
  if (!usesFunctions(request)) return send(request, reply);
  return send(toToolsRequest(request), new NormalizedCalls({ newId, messages: request.messages }, new FunctionCallSink(reply)));
}

class FunctionCallSink implements Sink<Frame> {
  readonly #converter = new FunctionCallReply();
  readonly #next: Sink<RawFrame>;

  constructor(next: Sink<RawFrame>) {
    this.#next = next;
  }

  frame(frame: Frame): void {
    this.#next.frame(Frame.ofChunks(...frame.chunks.map((chunk) => this.#converter.toFunctionCall(chunk))));
  }

  end(): void {
    this.#next.end();
  }

  fail(error: unknown): void {
    this.#next.fail(error);
  }
}
