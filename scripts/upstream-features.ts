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

/** `none` means that the dialect has no equivalent. */
export interface Cell {
  readonly handling: 'carried' | 'lost' | 'refused' | 'none';
  readonly how?: string;
}

export interface Feature {
  readonly name: string;
  readonly cells: Readonly<Record<DialectName, Cell>>;
}

const cell =
  (handling: Cell['handling']) =>
  (how?: string): Cell => ({ handling, ...(how !== undefined && { how }) });
const [carried, lost, refused, none] = [cell('carried'), cell('lost'), cell('refused'), cell('none')];
const demo = { demo: lost() };
const google = (usual: Cell) => ({ vertex: usual, gemini: usual });
const vendors = (usual: Cell) => ({ ...google(usual), bedrock: usual, mistral: usual });
const nonOpenAi = (usual: Cell) => ({ ...vendors(usual), anthropic: usual });

function row(name: string, usual: Cell, unusual: Partial<Record<DialectName, Cell>> = {}): Feature {
  const cells = Object.fromEntries(dialectNames.map((dialect) => [dialect, unusual[dialect] ?? usual]));
  return { name, cells: cells as Feature['cells'] };
}

/** Handling of each part of a request. `test/upstreams/matrix.test.ts` tests every cell. */
export const requestFeatures: readonly Feature[] = [
  row('`system` and `developer` messages', carried(), {
    openai: carried('as one leading message'),
    azure: carried('as one leading message'),
    ...demo,
  }),
  row('`name` of a user', carried(), { responses: lost(), ...nonOpenAi(lost()), ...demo }),
  row('image as data', carried(), demo),
  row('image by URL', carried(), { bedrock: refused('except `s3://`'), ...demo }),
  row('`detail` of an image', carried(), { ...nonOpenAi(lost()), ...demo }),
  row('PDF as data', carried(), demo),
  row('text file as data', carried(), { mistral: carried('as text'), ...demo }),
  row('file by ID', carried(), { ...vendors(refused()), gemini: carried('address of an uploaded file'), ...demo }),
  row('audio', carried(), { responses: refused(), ...nonOpenAi(refused()), ...google(carried()), ...demo }),
  row('image attachment', carried('as content'), { application: carried('unchanged'), demo: carried() }),
  row('text attachment', carried('as text'), { application: carried('unchanged'), demo: carried() }),
  row('`custom_content.state`', lost(), { application: carried() }),
  row('tools', carried()),
  row('tools other than functions', carried(), { ...vendors(lost('400 if forced')), ...demo }),
  row('`functions`', carried()),
  row('`tool_choice`: `none`', carried(), { bedrock: carried('without tools'), ...demo }),
  row('`tool_choice`: `required`', carried()),
  row('`tool_choice`: one function', carried(), { bedrock: carried('only that tool is sent') }),
  row('`parallel_tool_calls`: false', carried(), { bedrock: carried('Claude only'), ...google(lost()), ...demo }),
  row('`strict` of a tool', carried(), {
    bedrock: carried('if supported'),
    ...google(carried('calls are validated')),
    ...demo,
  }),
  row('calls and results', carried()),
  row('calls in a request without `tools`', carried(), {
    anthropic: carried('their tools are sent, with calling disabled'),
    bedrock: carried('as text'),
  }),
  row('image in a tool result', carried(), { mistral: lost('mentioned in text'), ...demo }),
  row('`max_tokens`, `max_completion_tokens`', carried(), {
    responses: carried('minimum 16'),
    anthropic: carried('default: the model’s limit, or 4096'),
  }),
  row('`temperature`', carried(), {
    anthropic: carried('not while thinking'),
    bedrock: carried('if supported'),
    ...demo,
  }),
  row('`temperature` above 1', carried(), { anthropic: lost('sent as 1'), bedrock: lost('sent as 1'), ...demo }),
  row('`top_p`', carried(), {
    anthropic: carried('not with `temperature`'),
    bedrock: carried('if supported'),
    ...demo,
  }),
  row('`top_k`', carried(), { responses: lost(), mistral: lost(), ...demo }),
  row('`stop`', carried(), { responses: lost(), bedrock: carried('not to OpenAI models'), ...demo }),
  row('`seed`', carried(), { responses: lost(), anthropic: lost(), bedrock: lost(), ...demo }),
  row('`presence_penalty`, `frequency_penalty`', carried(), {
    responses: lost(),
    ...{ anthropic: lost(), bedrock: lost(), gemini: carried('not to Gemini 2.5') },
    ...demo,
  }),
  row('`logit_bias`', carried(), { responses: lost(), ...nonOpenAi(lost()), ...demo }),
  row('`logprobs`', carried(), { ...nonOpenAi(lost()), ...demo }),
  row('`response_format`: `json_object`', carried(), {
    anthropic: carried('in the instructions'),
    bedrock: carried('in the instructions'),
  }),
  row('`response_format`: `json_schema`', carried(), { bedrock: carried('as output format or by a tool') }),
  row('`reasoning_effort`', carried(), {
    anthropic: carried('as thinking'),
    bedrock: carried('in the model’s form'),
    ...google(carried('thoughts are requested')),
    mistral: carried('if supported'),
    ...demo,
  }),
  row('`thinking` with a budget', carried(), { responses: lost(), mistral: lost(), ...demo }),
  row('returned thoughts: `thinking_blocks`', carried(), { responses: lost(), ...google(lost()), mistral: lost(), ...demo }),
  row('returned thoughts: `reasoning_content`', carried(), {
    responses: lost(),
    ...nonOpenAi(lost()),
    mistral: carried(),
    ...demo,
  }),
  row('returned signatures: `extra_content`', carried(), {
    responses: lost(),
    ...nonOpenAi(lost()),
    ...google(carried()),
    ...demo,
  }),
  row('`cache_control` of a part', carried(), {
    responses: lost(),
    ...vendors(lost()),
    bedrock: carried('as a cache point'),
    ...demo,
  }),
  row('`prompt_cache_key`', carried(), { ...nonOpenAi(lost()), mistral: carried(), ...demo }),
  row('`service_tier`', carried(), { anthropic: lost('except `auto`, `default`'), vertex: lost(), mistral: lost(), ...demo }),
  row('`safety_settings`', carried(), { responses: lost(), bedrock: lost(), mistral: lost(), ...demo }),
  row('`user`', carried(), { ...vendors(lost()), anthropic: carried('as `metadata.user_id`'), ...demo }),
  row('`metadata`, `store`', carried(), {
    responses: carried('`metadata` only'),
    ...nonOpenAi(lost()),
    anthropic: lost('except `metadata.user_id`'),
    ...demo,
  }),
  row('`n`', carried()),
  row('unknown fields', carried(), { responses: lost(), ...vendors(lost()), ...demo }),
];

const asText = carried('as text');
/** Returns a row for requests in the Messages dialect. An upstream of that dialect receives them unchanged. */
const relayed = (name: string, usual: Cell, unusual: Partial<Record<DialectName, Cell>> = {}): Feature =>
  row(name, usual, { ...unusual, anthropic: carried() });

/** Handling of each part of a request in the Messages dialect. */
export const messagesFeatures: readonly Feature[] = [
  relayed('`system`, messages of the role `system`', carried(), demo),
  relayed('image as data', carried(), demo),
  relayed('image by URL', carried(), { bedrock: refused('except `s3://`'), ...demo }),
  relayed('PDF as data', carried(), demo),
  relayed('text document', asText),
  relayed('document by URL', carried('its URL as text')),
  relayed('image or document by file ID', refused()),
  relayed('`search_result`', asText),
  relayed('`citations`', lost()),
  relayed('`cache_control` of system, text, images, documents, results', lost(), { bedrock: carried('as a cache point') }),
  relayed('`cache_control` of the request and of tools', lost()),
  relayed('tools', carried()),
  relayed('`defer_loading` and other fields of tools', lost()),
  relayed('tools that a vendor runs or knows without a schema', lost('400 if forced')),
  relayed('`mcp_servers`', refused()),
  relayed('`tool_choice`: `any`', carried()),
  relayed('`disable_parallel_tool_use`', carried(), { ...google(lost()), ...demo }),
  relayed('calls and results', carried()),
  relayed('`is_error` of a result', asText),
  relayed('image in a result', carried('after the result'), demo),
  relayed('`tool_reference` in a result', asText),
  relayed('`tool_addition`, `tool_removal` by name', asText, demo),
  relayed('`server_tool_use`, `mcp_tool_use`, and their results', refused()),
  relayed('`container_upload` and unknown blocks', refused()),
  relayed('`thinking`, `redacted_thinking` of earlier turns', lost(), { bedrock: carried(), application: carried() }),
  relayed('`thinking` of earlier turns without a signature', lost(), {
    openai: carried('as `reasoning_content`'),
    azure: carried('as `reasoning_content`'),
    mistral: carried('as a thought'),
    application: carried('as `reasoning_content`'),
  }),
  relayed('`thinking` with a budget', carried('as effort'), {
    ...{ bedrock: carried(), mistral: carried('as effort, if supported') },
    ...{ ...google(carried()), ...demo },
  }),
  relayed('`thinking`: `disabled`', lost(), google(carried())),
  relayed('`thinking.display`', lost()),
  relayed('`output_config.effort`', carried(), demo),
  relayed('`output_config.format`', carried()),
  relayed('`max_tokens`: 0', refused()),
  relayed('`temperature`', carried(), demo),
  relayed('`top_p`', carried(), demo),
  relayed('`top_k`', lost(), { ...google(carried()), bedrock: carried() }),
  relayed('`stop_sequences`', carried(), { responses: lost(), ...demo }),
  relayed('`metadata.user_id`', carried(), { ...vendors(lost()), ...demo }),
  relayed('`service_tier`', lost()),
  relayed('`context_management`, `container`, unknown fields', lost()),
];

/** Returns a row for requests in the Responses dialect. */
const native = (name: string, usual: Cell, unusual: Partial<Record<DialectName, Cell>> = {}): Feature =>
  row(name, usual, { ...unusual, responses: carried() });

/** Handling of each part of a request in the Responses dialect. */
export const responsesFeatures: readonly Feature[] = [
  native('`instructions`', carried(), demo),
  native('messages of the roles `system` and `developer`', carried()),
  native('image as data', carried(), demo),
  native('image by URL', carried(), { bedrock: refused('except `s3://`'), ...demo }),
  native('`detail` of an image', carried(), { ...nonOpenAi(lost()), ...demo }),
  native('PDF as data', carried(), demo),
  native('file by URL', carried('its URL as text'), { application: carried('as an attachment'), ...demo }),
  native('image or file by ID', refused()),
  native('earlier refusal', carried('as text'), demo),
  native('calls and outputs', carried()),
  native('image in an output', carried('after the output'), demo),
  native('thoughts without `encrypted_content`', lost()),
  native('items of vendor tools, such as `web_search_call`', refused()),
  native('tools', carried(), demo),
  native('`additional_tools` in the input', carried('as tools'), demo),
  native('`strict` of a tool', carried(), demo),
  native('`custom` tools', carried('as functions with one text parameter'), demo),
  native('grammar of a `custom` tool', carried('in its description'), demo),
  native('`namespace` of tools', carried('under flat names, and back'), demo),
  native('other tools, such as `web_search`', lost()),
  native('`tool_choice`: `none`', carried(), demo),
  native('`tool_choice`: `required`', carried()),
  native('`tool_choice`: one function', carried()),
  native('`tool_choice`: `allowed_tools`', carried('only these are sent'), demo),
  native('`parallel_tool_calls`: false', carried(), { bedrock: carried('Claude only'), ...google(lost()), ...demo }),
  native('`max_tool_calls`', lost()),
  native('`reasoning.effort`', carried(), { mistral: carried('if supported'), ...demo }),
  native('`text.format`: `json_object`', carried()),
  native('`text.format`: `json_schema`', carried()),
  native('`text.verbosity`', carried(), { ...nonOpenAi(lost()), ...demo }),
  native('`max_output_tokens`', carried(), demo),
  native('`temperature`', carried(), demo),
  native('`top_p`', carried(), demo),
  native('`presence_penalty`, `frequency_penalty`', carried(), { anthropic: lost(), bedrock: lost(), ...demo }),
  native('`top_logprobs`', lost()),
  native('`user`, `safety_identifier`', carried(), { ...vendors(lost()), ...demo }),
  native('`service_tier` other than `auto` and `default`', carried(), {
    anthropic: lost(),
    vertex: lost(),
    mistral: lost(),
    ...demo,
  }),
  native('`prompt_cache_key`', lost('but keeps a conversation on one upstream')),
  native('`include` for vendor tools', lost()),
  native('`prompt`, `context_management`, unknown fields', lost()),
];

const notInDemo = { demo: none() };

/** Handling of each part of a reply. */
export const replyFeatures: readonly Feature[] = [
  row('text as a stream', carried()),
  row('`reasoning_content`', carried(), notInDemo),
  row('signatures of thoughts', carried(), {
    anthropic: carried('`thinking_blocks`'),
    bedrock: carried('`thinking_blocks`'),
    ...google(carried('`extra_content.google.thought_signature`')),
    mistral: none(),
    responses: lost(),
    ...notInDemo,
  }),
  row('parallel calls', carried(), notInDemo),
  row('cached tokens', carried(), notInDemo),
  row('reasoning tokens', carried(), { bedrock: none(), mistral: none(), ...notInDemo }),
  row('`content_filter`', carried(), notInDemo),
  row('`refusal`', carried(), { bedrock: none(), mistral: none(), ...notInDemo }),
  row('sources', carried(), {
    ...{ anthropic: carried('as attachments'), bedrock: lost(), mistral: lost(), ...google(carried('as attachments')) },
    ...notInDemo,
  }),
  row('generated files', carried(), {
    responses: none(),
    ...nonOpenAi(none()),
    ...google(carried('as attachments')),
    ...notInDemo,
  }),
  row('probabilities: `logprobs`', carried(), { ...nonOpenAi(none()), ...notInDemo }),
  row('embeddings', carried(), { anthropic: refused(), application: none() }),
];
