import type { JsonObject } from '#base/json.ts';
import type { ResponseObject } from '#contract/responses/response.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isFunctionTool, isMcpTool, isNamespaceTool, type ResponsesTool } from '#contract/responses/tools.ts';

/** What a response is known by before anything of it comes. */
export interface ResponseFacts {
  readonly id: string;
  readonly createdAtSeconds: number;
  readonly request: ResponsesRequest;
  /** Id of the deployment. */
  readonly model: string;
  /** Whether it can be read later. */
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly conversation: { readonly id: string } | undefined;
}

/** A response that is under way: what was asked for, with the defaults of what was not. */
export function toResponse({ id, createdAtSeconds, request, model, ...facts }: ResponseFacts): ResponseObject {
  const { reasoning, text, tools = [] } = request;
  return {
    id,
    object: 'response',
    created_at: createdAtSeconds,
    completed_at: null,
    status: 'in_progress',
    background: facts.isBackground,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    ...(facts.conversation && { conversation: { ...facts.conversation } }),
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    store: facts.isStored,
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    text: { format: toFormat(text?.format), ...(text?.verbosity !== undefined && { verbosity: text.verbosity }) },
    tool_choice: toShownChoice(request.tool_choice),
    tools: tools.map(toShownTool),
    top_logprobs: request.top_logprobs ?? 0,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
}

type Format = NonNullable<ResponsesRequest['text']>['format'];

function toFormat(format: Format): JsonObject {
  if (format === undefined) return { type: 'text' };
  if (format.type !== 'json_schema') return { type: format.type };
  return { description: null, strict: false, ...format };
}

/** A choice among tools that says no more leaves it to the model. */
function toShownChoice(choice: ResponsesRequest['tool_choice'] = 'auto'): ResponseObject['tool_choice'] {
  return typeof choice === 'object' && choice.type === 'allowed_tools' ? { mode: 'auto', ...choice } : choice;
}

/** A tool as it was offered, without what lets somebody into a server. */
function toShownTool(tool: ResponsesTool): JsonObject {
  if (isFunctionTool(tool)) return { ...tool, description: null, parameters: null, strict: null, ...tool };
  if (isNamespaceTool(tool)) return { ...tool, tools: tool.tools.map(toShownTool) };
  if (!isMcpTool(tool)) return { ...tool };
  const { authorization: _authorization, headers: _headers, ...shown } = tool;
  return { ...shown };
}
