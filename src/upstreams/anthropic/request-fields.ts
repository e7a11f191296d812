/** Rule for a top-level field of a chat request. */
interface FieldRule {
  /**
   * `translated`: expressed in the dialect. `sent`: the dialect's own field. `dropped`: the dialect has no
   * equivalent.
   */
  readonly handling: 'translated' | 'sent' | 'dropped';
  readonly description: string;
}

const translated = (description: string): FieldRule => ({ handling: 'translated', description });
const sent = (description: string): FieldRule => ({ handling: 'sent', description });
const dropped = (description: string): FieldRule => ({ handling: 'dropped', description });

const withoutLogprobs = 'the dialect has no log probabilities';
const withoutPenalties = 'the dialect has no penalties or token bias';
const textOnly = 'the dialect answers in text';

/**
 * Rules for the fields of a chat request to an upstream of the Messages dialect. A field that is not listed is sent unchanged.
 */
export const requestFields: ReadonlyMap<string, FieldRule> = new Map(
  Object.entries({
    model: translated("the upstream's own name"),
    messages: translated('`system` and `messages`, see there'),
    max_tokens: translated("unchanged. Default: the model's limit, or 4096"),
    max_completion_tokens: translated('`max_tokens`, which it replaces'),
    temperature: translated('at most 1. Omitted if the model thinks'),
    top_p: translated('unchanged. With `temperature`, only the value other than 1 is sent. Omitted if the model thinks'),
    stop: translated('`stop_sequences`, without those of only white space'),
    tools: translated('`input_schema` for `parameters`. Tools that are not functions are unchanged'),
    tool_choice: translated('`required` is `any`, a named function is `tool`. `allowed_tools` removes the other tools'),
    parallel_tool_calls: translated('false is `tool_choice.disable_parallel_tool_use`'),
    response_format: translated('`json_schema` is `output_config.format`. `json_object` is an instruction'),
    reasoning_effort: translated(
      '`thinking`, with `output_config.effort` for Claude 4.6 or later. It yields to `thinking` in the request',
    ),
    user: translated('`metadata.user_id`'),
    safety_identifier: translated('`metadata.user_id` if there is no `user`'),
    metadata: translated('only its `user_id`'),
    service_tier: translated(
      '`auto` and `standard_only` are unchanged, `default` is `standard_only`, and other values are omitted',
    ),
    betas: translated('the header `anthropic-beta`'),
    stream: sent('unchanged'),
    thinking: sent("the dialect's own"),
    top_k: sent("the dialect's own"),
    output_config: sent("the dialect's own"),
    cache_control: sent("the dialect's own"),
    container: sent("the dialect's own"),
    context_management: sent("the dialect's own"),
    mcp_servers: sent("the dialect's own"),
    inference_geo: sent("the dialect's own"),
    speed: sent("the dialect's own"),
    stream_options: dropped('usage is always sent'),
    n: dropped('Parley makes `n` calls'),
    seed: dropped('the dialect has no seed'),
    presence_penalty: dropped(withoutPenalties),
    frequency_penalty: dropped(withoutPenalties),
    logit_bias: dropped(withoutPenalties),
    logprobs: dropped(withoutLogprobs),
    top_logprobs: dropped(withoutLogprobs),
    modalities: dropped(textOnly),
    audio: dropped(textOnly),
    prediction: dropped('the dialect has no predicted output'),
    verbosity: dropped('the dialect has no such field'),
    store: dropped('the dialect does not store replies'),
    prompt_cache_key: dropped('caching is controlled by `cache_control`'),
    prompt_cache_retention: dropped('caching is controlled by `cache_control`'),
    web_search_options: dropped("the dialect's own search is a tool"),
    addons: dropped('Parley runs them itself'),
    functions: dropped('sent as `tools`'),
    function_call: dropped('sent as `tool_choice`'),
    custom_fields: dropped('settings for applications'),
  }),
);

/** Returns the fields that need no translation, with their values. */
export function pickSentFields(request: { readonly [key: string]: unknown }): { [key: string]: unknown } {
  const isSent = ([key, value]: [string, unknown]): boolean =>
    (value ?? null) !== null && (requestFields.get(key)?.handling ?? 'sent') === 'sent';
  return Object.fromEntries(Object.entries(request).filter(isSent));
}
