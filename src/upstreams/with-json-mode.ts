import { isJsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { isInstruction } from '#contract/chat/message.ts';
import { type ChatProtocol, hasJsonMode } from '#domain/upstreams/upstream.ts';

const instruction = 'Answer with one JSON object and nothing else: no words before or after it, and no code fence around it.';

/** Tells upstreams without a mode for JSON in their instructions that `response_format` asks for it. */
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

/** JSON of whatever schema; one that is given is a matter of each protocol. */
function requestsJson({ response_format: format }: ChatRequest): boolean {
  return isJsonObject(format) && format.type === 'json_object';
}

/** Behind the instructions that are there: prompt caches go by the beginning. */
function addInstruction({ response_format: _format, ...request }: ChatRequest): ChatRequest {
  const { messages } = request;
  const first = messages.findIndex((message) => !isInstruction(message));
  const index = first === -1 ? messages.length : first;
  return {
    ...request,
    messages: [...messages.slice(0, index), { role: 'system', content: instruction }, ...messages.slice(index)],
  };
}
