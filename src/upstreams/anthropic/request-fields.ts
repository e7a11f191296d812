/** Rule for a top-level field of a chat request. */
interface FieldRule {
  /**
   * `translated`: expressed in the dialect. `sent`: the dialect's own field. `dropped`: the dialect has no
   * equivalent.
   */
  readonly fate: 'translated' | 'sent' | 'dropped';
  readonly description: string;
}

const translated = (description: string): FieldRule => ({ fate: 'translated', description });
const sent = (description: string): FieldRule => ({ fate: 'sent', description });
const dropped = (description: string): FieldRule => ({ fate: 'dropped', description });

const withoutLogprobs = 'the dialect gives no probabilities';
const withoutPenalties = 'the dialect does not steer single tokens';
const textOnly = 'the dialect answers in text';

/**
 * Rules for the fields of a chat request to an upstream of the Messages dialect. A field that is not listed is sent
 * unchanged.
 */
export const requestFields: ReadonlyMap<string, FieldRule> = new Map(
  Object.entries({
    model: translated("the upstream's own name"),
    messages: translated('`system` and `messages`, see there'),
    max_tokens: translated("as it is; without it the model's limit, else 4096"),
    max_completion_tokens: translated('`max_tokens`; wins over it'),
    temperature: translated('as it is, above 1 as 1; left out while the model thinks'),
    top_p: translated(
      'as it is, but not beside `temperature`, of which the one that is not 1 is sent; left out while the model thinks',
    ),
    stop: translated('`stop_sequences`, without those that are white space only'),
    tools: translated('`input_schema` for `parameters`; tools that are no functions as they are'),
    tool_choice: translated('`required` is `any`, a named function `tool`; `allowed_tools` leaves the other tools out'),
    parallel_tool_calls: translated('false is `tool_choice.disable_parallel_tool_use`'),
    response_format: translated('`json_schema` is `output_config.format`; `json_object` comes as an instruction'),
    reasoning_effort: translated(
      '`thinking`, for a Claude of 4.6 or later with `output_config.effort`; `thinking` in the request wins',
    ),
    user: translated('`metadata.user_id`'),
    safety_identifier: translated('`metadata.user_id` where there is no `user`'),
    metadata: translated('only `user_id` of it'),
    service_tier: translated('`auto` and `standard_only` as they are, `default` is `standard_only`, others are left out'),
    betas: translated('the header `anthropic-beta`'),
    stream: sent('as it is'),
    thinking: sent("the dialect's own"),
    top_k: sent("the dialect's own"),
    output_config: sent("the dialect's own"),
    cache_control: sent("the dialect's own"),
    container: sent("the dialect's own"),
    context_management: sent("the dialect's own"),
    mcp_servers: sent("the dialect's own"),
    inference_geo: sent("the dialect's own"),
    speed: sent("the dialect's own"),
    stream_options: dropped('usage always comes'),
    n: dropped('that many calls are made'),
    seed: dropped('the dialect has no seed'),
    presence_penalty: dropped(withoutPenalties),
    frequency_penalty: dropped(withoutPenalties),
    logit_bias: dropped(withoutPenalties),
    logprobs: dropped(withoutLogprobs),
    top_logprobs: dropped(withoutLogprobs),
    modalities: dropped(textOnly),
    audio: dropped(textOnly),
    prediction: dropped('the dialect takes no predicted output'),
    verbosity: dropped('the dialect has no such field'),
    store: dropped('the dialect keeps nothing'),
    prompt_cache_key: dropped('caching is asked for by `cache_control`'),
    prompt_cache_retention: dropped('caching is asked for by `cache_control`'),
    web_search_options: dropped("the dialect's own search is a tool"),
    addons: dropped('Parley runs them itself'),
    functions: dropped('they come as `tools`'),
    function_call: dropped('it comes as `tool_choice`'),
    custom_fields: dropped('settings of applications'),
  }),
);

/** Returns the fields that need no translation, with their values. */
export function pickSentFields(request: { readonly [key: string]: unknown }): { [key: string]: unknown } {
  const isSent = ([key, value]: [string, unknown]): boolean =>
    (value ?? null) !== null && (requestFields.get(key)?.fate ?? 'sent') === 'sent';
  return Object.fromEntries(Object.entries(request).filter(isSent));
}
