import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';

/** Whether a request asks for `usage.cost`. */
export function asksForCost({ stream_options: options }: ChatRequest): boolean {
  return isJsonObject(options) && options.include_cost === true;
}

/** Returns the request without the option, which no upstream knows. Returns the original object if the option is absent. */
export function withoutCostOption(request: ChatRequest): ChatRequest {
  const { stream_options: options, ...rest } = request;
  if (!isJsonObject(options) || options.include_cost === undefined) return request;
  const { include_cost: _cost, ...others } = options;
  return Object.keys(others).length === 0 ? rest : { ...rest, stream_options: others };
}
