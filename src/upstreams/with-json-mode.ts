import { isJsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { isInstruction } from '#contract/chat/message.ts';
import { type ChatProtocol, hasJsonMode } from '#domain/upstreams/upstream.ts';

const instruction = 'Answer with one JSON object and nothing else: no words before or after it, and no code fence around it.';

/** Adds an instruction for `response_format` to requests for upstreams without a JSON mode. */
export function withJsonMode(protocol: ChatProtocol): ChatProtocol {
  return {
    ...protocol,
    chat(attempt, reply) {
      const { request, upstream } = attempt;
      const needsInstruction = requestsJson(request) && !hasJsonMode(upstream);
      return protocol.chat(needsInstruction ? { ...attempt, request: addInstruction(request) } : attempt, reply);
    },
  };
}

/** Returns whether the request requires JSON without a schema. The protocols handle requests with a schema. */
function requestsJson({ response_format: format }: ChatRequest): boolean {
  return isJsonObject(format) && format.type === 'json_object';
}

/** Adds the instruction after the existing ones, because prompt caches depend on the start of the prompt. */
function addInstruction({ response_format: _format, ...request }: ChatRequest): ChatRequest {
  const { messages } = request;
  const first = messages.findIndex((message) => !isInstruction(message));
  const index = first === -1 ? messages.length : first;
  return {
    ...request,
    messages: [...messages.slice(0, index), { role: 'system', content: instruction }, ...messages.slice(index)],
  };
}
