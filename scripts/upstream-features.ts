/** Dialects of upstreams and applications. `responses` means `openai` or `azure` with `api: "responses"`. */
export const dialectNames = [
  'openai',
  'azure',
  'responses',
  'anthropic',
  'bedrock',
  'vertex',
  'gemini',
  'mistral',
  'application',
  'demo',
] as const;
export type DialectName = (typeof dialectNames)[number];

/** Handling of a feature by one dialect. `none` means that the dialect has no equivalent. `how` adds a detail. */
export interface Cell {
  readonly handling: 'supported' | 'dropped' | 'rejected' | 'none';
  readonly how?: string;
}

/** One part of requests or replies, with its handling by each dialect. */
export interface Feature {
  readonly name: string;
  readonly cells: Readonly<Record<DialectName, Cell>>;
}

const cell =
  (handling: Cell['handling']) =>
  (how?: string): Cell => ({ handling, ...(how !== undefined && { how }) });
const [supported, dropped, rejected, none] = [cell('supported'), cell('dropped'), cell('rejected'), cell('none')];
const demo = { demo: dropped() };
const google = (standard: Cell) => ({ vertex: standard, gemini: standard });
const vendors = (standard: Cell) => ({ ...google(standard), bedrock: standard, mistral: standard });
const nonOpenAi = (standard: Cell) => ({ ...vendors(standard), anthropic: standard });

function row(name: string, standard: Cell, exceptions: Partial<Record<DialectName, Cell>> = {}): Feature {
  const cells = Object.fromEntries(dialectNames.map((dialect) => [dialect, exceptions[dialect] ?? standard]));
  return { name, cells: cells as Feature['cells'] };
}

/** Handling of each part of a request. `test/upstreams/matrix.test.ts` tests every cell. */
export const requestFeatures: readonly Feature[] = [
  row('`system` and `developer` messages', supported(), {
    openai: supported('as one leading message'),
    azure: supported('as one leading message'),
    ...demo,
  }),
  row('`name` of a user', supported(), { responses: dropped(), ...nonOpenAi(dropped()), ...demo }),
  row('image as data', supported(), demo),
  row('image by URL', supported(), { bedrock: rejected('except `s3://`'), ...demo }),
  row('`detail` of an image', supported(), { ...nonOpenAi(dropped()), ...demo }),
  row('PDF as data', supported(), demo),
  row('text file as data', supported(), { mistral: supported('as text'), ...demo }),
  row('file by ID', supported(), { ...vendors(rejected()), gemini: supported('address of an uploaded file'), ...demo }),
  row('audio', supported(), { responses: rejected(), ...nonOpenAi(rejected()), ...google(supported()), ...demo }),
  row('image attachment', supported('as content'), { application: supported('unchanged'), demo: supported() }),
  row('text attachment', supported('as text'), { application: supported('unchanged'), demo: supported() }),
  row('`custom_content.state`', dropped(), { application: supported() }),
  row('tools', supported()),
  row('tools of OpenAI, such as `web_search`', supported(), {
    anthropic: dropped('400 if forced'),
    ...vendors(dropped('400 if forced')),
    ...demo,
  }),
  row('tools of Anthropic, such as `web_search_20250305`', supported(), {
    responses: dropped('400 if forced'),
    ...vendors(dropped('400 if forced')),
    ...demo,
  }),
  row('`functions`', supported()),
  row('`tool_choice`: `none`', supported(), { bedrock: supported('without tools'), ...demo }),
  row('`tool_choice`: `required`', supported()),
  row('`tool_choice`: one function', supported(), { bedrock: supported('only that tool is sent') }),
  row('`parallel_tool_calls`: false', supported(), { bedrock: supported('only Claude'), ...google(dropped()), ...demo }),
  row('`strict` of a tool', supported(), {
    bedrock: supported('if the model supports it'),
    ...google(supported('as mode `VALIDATED`')),
    ...demo,
  }),
  row('calls and results', supported()),
  row('calls in a request without `tools`', supported(), {
    anthropic: supported('their tools are sent, with calling disabled'),
    bedrock: supported('as text'),
  }),
  row('image in a tool result', supported(), { mistral: dropped('mentioned in text'), ...demo }),
  row('`max_tokens`, `max_completion_tokens`', supported(), {
    responses: supported('minimum 16'),
    anthropic: supported('default: the model’s limit, or 4096'),
  }),
  row('`temperature`', supported(), {
    anthropic: supported('not while thinking'),
    bedrock: supported('if the model supports it'),
    ...demo,
  }),
  row('`temperature` above 1', supported(), { anthropic: dropped('sent as 1'), bedrock: dropped('sent as 1'), ...demo }),
  row('`top_p`', supported(), {
    anthropic: supported('not with `temperature`'),
    bedrock: supported('if the model supports it'),
    ...demo,
  }),
  row('`top_k`', supported(), { responses: dropped(), mistral: dropped(), ...demo }),
  row('`stop`', supported(), { responses: dropped(), bedrock: supported('not to OpenAI models'), ...demo }),
  row('`seed`', supported(), { responses: dropped(), anthropic: dropped(), bedrock: dropped(), ...demo }),
  row('`presence_penalty`, `frequency_penalty`', supported(), {
    responses: dropped(),
    ...{ anthropic: dropped(), bedrock: dropped(), gemini: supported('not to Gemini 2.5') },
    ...demo,
  }),
  row('`logit_bias`', supported(), { responses: dropped(), ...nonOpenAi(dropped()), ...demo }),
  row('`logprobs`', supported(), { ...nonOpenAi(dropped()), ...demo }),
  row('`response_format`: `json_object`', supported(), {
    anthropic: supported('in the instructions'),
    bedrock: supported('in the instructions'),
  }),
  row('`response_format`: `json_schema`', supported(), { bedrock: supported('as output format or by a tool') }),
  row('`reasoning_effort`', supported(), {
    anthropic: supported('as thinking'),
    bedrock: supported('in the form of the model'),
    ...google(supported('also requests thoughts')),
    mistral: supported('if the model supports it'),
    ...demo,
  }),
  row('`thinking` with a budget', supported(), { responses: dropped(), mistral: dropped(), ...demo }),
  row('`thinking_blocks` of an earlier reply', supported(), {
    responses: dropped(),
    ...google(dropped()),
    mistral: dropped(),
    ...demo,
  }),
  row('`reasoning_content` of an earlier reply', supported(), {
    responses: dropped(),
    ...nonOpenAi(dropped()),
    mistral: supported(),
    ...demo,
  }),
  row('`extra_content` of an earlier reply (signatures)', supported(), {
    responses: dropped(),
    ...nonOpenAi(dropped()),
    ...google(supported()),
    ...demo,
  }),
  row('`cache_control` of a part', supported(), {
    responses: dropped(),
    ...vendors(dropped()),
    bedrock: supported('as a cache point'),
    ...demo,
  }),
  row('`prompt_cache_key`', supported(), { ...nonOpenAi(dropped()), mistral: supported(), ...demo }),
  row('`service_tier`', supported(), {
    anthropic: dropped('except `auto`, `default`'),
    vertex: dropped(),
    mistral: dropped(),
    ...demo,
  }),
  row('`safety_settings`', supported(), { responses: dropped(), bedrock: dropped(), mistral: dropped(), ...demo }),
  row('`user`', supported(), { ...vendors(dropped()), anthropic: supported('as `metadata.user_id`'), ...demo }),
  row('`metadata`, `store`', supported(), {
    responses: supported('`metadata` only'),
    ...nonOpenAi(dropped()),
    anthropic: dropped('except `metadata.user_id`'),
    ...demo,
  }),
  row('`n`', supported()),
  row('unknown fields', supported(), { responses: dropped(), ...vendors(dropped()), ...demo }),
];

const asText = supported('as text');
/** Returns a row for requests in the Messages dialect. An upstream of that dialect receives them unchanged. */
const messagesRow = (name: string, standard: Cell, exceptions: Partial<Record<DialectName, Cell>> = {}): Feature =>
  row(name, standard, { ...exceptions, anthropic: supported() });

/** Handling of each part of a request in the Messages dialect. */
export const messagesFeatures: readonly Feature[] = [
  messagesRow('`system`, messages of the role `system`', supported(), demo),
  messagesRow('image as data', supported(), demo),
  messagesRow('image by URL', supported(), { bedrock: rejected('except `s3://`'), ...demo }),
  messagesRow('PDF as data', supported(), demo),
  messagesRow('text document', asText),
  messagesRow('document by URL', supported('its URL as text')),
  messagesRow('image or document by file ID', rejected()),
  messagesRow('`search_result`', asText),
  messagesRow('`citations`', dropped()),
  messagesRow('`cache_control` of system, text, images, documents, results', dropped(), {
    bedrock: supported('as a cache point'),
  }),
  messagesRow('`cache_control` of the request and of tools', dropped()),
  messagesRow('tools', supported()),
  messagesRow('`defer_loading` and other fields of tools', dropped()),
  messagesRow('vendor tools without a schema, such as `web_search_20250305`', dropped('400 if forced')),
  messagesRow('`mcp_servers`', rejected()),
  messagesRow('`tool_choice`: `any`', supported()),
  messagesRow('`disable_parallel_tool_use`', supported(), { ...google(dropped()), ...demo }),
  messagesRow('calls and results', supported()),
  messagesRow('`is_error` of a result', asText),
  messagesRow('image in a result', supported('after the result'), demo),
  messagesRow('`tool_reference` in a result', asText),
  messagesRow('`tool_addition`, `tool_removal` by name', asText, demo),
  messagesRow('`server_tool_use`, `mcp_tool_use`, and their results', rejected()),
  messagesRow('`container_upload` and unknown blocks', rejected()),
  messagesRow('`thinking`, `redacted_thinking` of earlier turns', dropped(), { bedrock: supported(), application: supported() }),
  messagesRow('`thinking` of earlier turns without a signature', dropped(), {
    openai: supported('as `reasoning_content`'),
    azure: supported('as `reasoning_content`'),
    mistral: supported('as a thought'),
    application: supported('as `reasoning_content`'),
  }),
  messagesRow('`thinking` with a budget', supported('as effort'), {
    ...{ bedrock: supported(), mistral: supported('as effort, if the model supports it') },
    ...{ ...google(supported()), ...demo },
  }),
  messagesRow('`thinking`: `disabled`', dropped(), google(supported())),
  messagesRow('`thinking.display`', dropped()),
  messagesRow('`output_config.effort`', supported(), demo),
  messagesRow('`output_config.format`', supported()),
  messagesRow('`max_tokens`: 0', rejected()),
  messagesRow('`temperature`', supported(), demo),
  messagesRow('`top_p`', supported(), demo),
  messagesRow('`top_k`', dropped(), { ...google(supported()), bedrock: supported() }),
  messagesRow('`stop_sequences`', supported(), { responses: dropped(), ...demo }),
  messagesRow('`metadata.user_id`', supported(), { ...vendors(dropped()), ...demo }),
  messagesRow('`service_tier`', dropped()),
  messagesRow('`context_management`, `container`, unknown fields', dropped()),
];

/** Returns a row for requests in the Responses dialect. */
const responsesRow = (name: string, standard: Cell, exceptions: Partial<Record<DialectName, Cell>> = {}): Feature =>
  row(name, standard, { ...exceptions, responses: supported() });

/** Handling of each part of a request in the Responses dialect. */
export const responsesFeatures: readonly Feature[] = [
  responsesRow('`instructions`', supported(), demo),
  responsesRow('messages of the roles `system` and `developer`', supported()),
  responsesRow('image as data', supported(), demo),
  responsesRow('image by URL', supported(), { bedrock: rejected('except `s3://`'), ...demo }),
  responsesRow('`detail` of an image', supported(), { ...nonOpenAi(dropped()), ...demo }),
  responsesRow('PDF as data', supported(), demo),
  responsesRow('file by URL', supported('its URL as text'), { application: supported('as an attachment'), ...demo }),
  responsesRow('image or file by ID', rejected()),
  responsesRow('earlier refusal', supported('as text'), demo),
  responsesRow('calls and outputs', supported()),
  responsesRow('image in an output', supported('after the output'), demo),
  responsesRow('thoughts without `encrypted_content`', dropped()),
  responsesRow('items of vendor tools, such as `web_search_call`', rejected()),
  responsesRow('tools', supported(), demo),
  responsesRow('`additional_tools` in the input', supported('as tools'), demo),
  responsesRow('`strict` of a tool', supported(), demo),
  responsesRow('`custom` tools', supported('as functions with one text parameter'), demo),
  responsesRow('grammar of a `custom` tool', supported('in its description'), demo),
  responsesRow('`namespace` of tools', supported('under flat names, restored in the reply'), demo),
  responsesRow('other tools, such as `web_search`', dropped()),
  responsesRow('`tool_choice`: `none`', supported(), demo),
  responsesRow('`tool_choice`: `required`', supported()),
  responsesRow('`tool_choice`: one function', supported()),
  responsesRow('`tool_choice`: `allowed_tools`', supported('only these are sent'), demo),
  responsesRow('`parallel_tool_calls`: false', supported(), { bedrock: supported('only Claude'), ...google(dropped()), ...demo }),
  responsesRow('`max_tool_calls`', dropped()),
  responsesRow('`reasoning.effort`', supported(), { mistral: supported('if the model supports it'), ...demo }),
  responsesRow('`text.format`: `json_object`', supported()),
  responsesRow('`text.format`: `json_schema`', supported()),
  responsesRow('`text.verbosity`', supported(), { ...nonOpenAi(dropped()), ...demo }),
  responsesRow('`max_output_tokens`', supported(), demo),
  responsesRow('`temperature`', supported(), demo),
  responsesRow('`top_p`', supported(), demo),
  responsesRow('`presence_penalty`, `frequency_penalty`', supported(), { anthropic: dropped(), bedrock: dropped(), ...demo }),
  responsesRow('`top_logprobs`', dropped()),
  responsesRow('`user`, `safety_identifier`', supported(), { ...vendors(dropped()), ...demo }),
  responsesRow('`service_tier` other than `auto` and `default`', supported(), {
    anthropic: dropped(),
    vertex: dropped(),
    mistral: dropped(),
    ...demo,
  }),
  responsesRow('`prompt_cache_key`', dropped('but keeps a conversation on one upstream')),
  responsesRow('`include` for vendor tools', dropped()),
  responsesRow('`prompt`, `context_management`, unknown fields', dropped()),
];

const notInDemo = { demo: none() };

/** Handling of each part of a reply. */
export const replyFeatures: readonly Feature[] = [
  row('text as a stream', supported()),
  row('`reasoning_content`', supported(), notInDemo),
  row('signatures of thoughts', supported(), {
    anthropic: supported('`thinking_blocks`'),
    bedrock: supported('`thinking_blocks`'),
    ...google(supported('`extra_content.google.thought_signature`')),
    mistral: none(),
    responses: dropped(),
    ...notInDemo,
  }),
  row('parallel calls', supported(), notInDemo),
  row('cached tokens', supported(), notInDemo),
  row('reasoning tokens', supported(), { bedrock: none(), mistral: none(), ...notInDemo }),
  row('`content_filter`', supported(), notInDemo),
  row('`refusal`', supported(), { bedrock: none(), mistral: none(), ...notInDemo }),
  row('sources', supported(), {
    ...{ anthropic: supported('as attachments'), bedrock: dropped(), mistral: dropped(), ...google(supported('as attachments')) },
    ...notInDemo,
  }),
  row('generated files', supported(), {
    responses: none(),
    ...nonOpenAi(none()),
    ...google(supported('as attachments')),
    ...notInDemo,
  }),
  row('`logprobs` of a choice', supported(), { ...nonOpenAi(none()), ...notInDemo }),
  row('embeddings', supported(), { anthropic: rejected(), application: none() }),
];
