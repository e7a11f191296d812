import type { ChatRequest } from '#contract/chat-request.ts';
import type { VendorName } from './dialect.ts';

/** Fields that every vendor is sent, and those that Parley itself acts on. */
const common: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'addons', 'custom_fields'],
  ...['tools', 'tool_choice', 'functions', 'function_call'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'seed', 'stop'],
  ...['presence_penalty', 'frequency_penalty', 'response_format', 'reasoning_effort'],
]);
const own: Readonly<Record<VendorName, readonly string[]>> = {
  gemini: ['thinking', 'safety_settings', 'cached_content', 'service_tier'],
  vertex: ['thinking', 'safety_settings', 'cached_content'],
  bedrock: ['thinking', 'service_tier', 'betas', 'parallel_tool_calls'],
  mistral: ['parallel_tool_calls', 'prompt_cache_key', 'safe_prompt'],
};

/** The fields of a request that its vendor has nothing for. What single models of it do not take, its package reports. */
export function lostFields(request: ChatRequest, vendor: VendorName): string[] {
  const isLost = ([field, value]: [string, unknown]): boolean =>
    (value ?? null) !== null && !common.has(field) && !own[vendor].includes(field);
  return Object.entries(request)
    .filter(isLost)
    .map(([field]) => field);
}
