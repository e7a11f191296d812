/** The dialects that an upstream can speak, an application's among them; `responses` is `openai` or `azure` with `api: "responses"`. */
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

/** What callers speak. */
export const callerDialects = ['Chat completions', 'Messages', 'Responses'] as const;

/** How callers reach each kind of upstream, in the order of `callerDialects`. `test/responses/relay.test.ts` and `test/messages/relay.test.ts` hold it. */
export const deliveryModes: readonly (readonly [upstream: string, ...ways: ('relayed' | 'translated')[]])[] = [
  ['`openai`, `azure`; `api`: `chat`', 'relayed', 'translated', 'translated'],
  ['`openai`, `azure`; `api`: `responses`', 'translated', 'translated', 'relayed'],
  ['`openai`, `azure`; `api`: `both`, or a list with `chat` and `responses`', 'relayed', 'translated', 'relayed'],
  ['`anthropic`, Claude behind `vertex`', 'translated', 'relayed', 'translated'],
  ['`bedrock`, `vertex`, `gemini`, `mistral`, `demo`', 'translated', 'translated', 'translated'],
  ['an application, an adapter (`dial`)', 'relayed', 'translated', 'translated'],
  ['a quick app', 'translated', 'translated', 'translated'],
];

/** `none`: the dialect has nothing of the kind. */
export interface Cell {
  readonly fate: 'carried' | 'lost' | 'refused' | 'none';
  readonly how?: string;
}

export interface Feature {
  readonly name: string;
  readonly cells: Readonly<Record<DialectName, Cell>>;
}

const cell =
  (fate: Cell['fate']) =>
  (how?: string): Cell => ({ fate, ...(how !== undefined && { how }) });
const [carried, lost, refused, none] = [cell('carried'), cell('lost'), cell('refused'), cell('none')];
const demo = { demo: lost() };
const google = (value: Cell) => ({ vertex: value, gemini: value });
const vendors = (value: Cell) => ({ ...google(value), bedrock: value, mistral: value });
const nonOpenAi = (value: Cell) => ({ ...vendors(value), anthropic: value });

function row(name: string, usual: Cell, unusual: Partial<Record<DialectName, Cell>> = {}): Feature {
  const cells = Object.fromEntries(dialectNames.map((dialect) => [dialect, unusual[dialect] ?? usual]));
  return { name, cells: cells as Feature['cells'] };
}

/** What becomes of each part of a request. `test/upstreams/matrix.test.ts` holds every cell. */
export const requestFeatures: readonly Feature[] = [
  row('`system` and `developer` messages', carried(), {
    openai: carried('as one leading message'),
    azure: carried('as one leading message'),
    ...nonOpenAi(carried('put first, as instructions')),
    ...demo,
  }),
  row('`name` of a user', carried(), { responses: lost(), ...nonOpenAi(lost()), ...demo }),
  row('image as data', carried(), demo),
  row('image by its address', carried(), { bedrock: refused('but for `s3://`'), ...demo }),
  row('`detail` of an image', carried(), { ...nonOpenAi(lost()), ...demo }),
  row('PDF as data', carried(), demo),
  row('text file as data', carried(), { mistral: carried('as text'), ...demo }),
  row('file by its id', carried(), { ...vendors(refused()), gemini: carried('the address of an uploaded file'), ...demo }),
  row('audio', carried(), { responses: refused(), ...nonOpenAi(refused()), ...google(carried()), ...demo }),
  row('attachment that is an image', carried('as a part of the content'), { application: carried('as it is'), demo: carried() }),
  row('attachment that is text', carried('as text'), { application: carried('as it is'), demo: carried() }),
  row('`custom_content.state`', lost(), { application: carried() }),
  row('tools', carried()),
  row('tools that are no functions', carried(), { ...vendors(lost('unless a call of one is demanded')), ...demo }),
  row('`functions`', carried(), { ...nonOpenAi(carried('as tools')), demo: carried('as tools') }),
  row('`tool_choice`: `none`', carried(), { bedrock: carried('no tool is offered'), ...demo }),
  row('`tool_choice`: `required`', carried()),
  row('`tool_choice`: one function', carried(), { bedrock: carried('no other is offered') }),
  row('`parallel_tool_calls`: false', carried(), { bedrock: carried('Claude only'), ...google(lost()), ...demo }),
  row('`strict` of a tool', carried(), {
    bedrock: carried('models that know it'),
    ...google(carried('calls are validated')),
    ...demo,
  }),
  row('calls and their results', carried()),
  row('calls where no tool is offered any more', carried(), {
    anthropic: carried('their tools are offered, and calling is off'),
    bedrock: carried('as text'),
  }),
  row('image in the result of a tool', carried(), { mistral: lost('the model is told that there is one'), ...demo }),
  row('`max_tokens`, `max_completion_tokens`', carried(), {
    responses: carried('16 at least'),
    anthropic: carried('without either: the limit of the model, else 4096'),
  }),
  row('`temperature`', carried(), {
    anthropic: carried('not while the model thinks'),
    bedrock: carried('models that know it'),
    ...demo,
  }),
  row('`temperature` above 1', carried(), { anthropic: lost('1 in its place'), bedrock: lost('1 in its place'), ...demo }),
  row('`top_p`', carried(), { anthropic: carried('not beside `temperature`'), bedrock: carried('models that know it'), ...demo }),
  row('`top_k`', carried(), { responses: lost(), mistral: lost(), ...demo }),
  row('`stop`', carried(), { responses: lost(), bedrock: carried('not to models of OpenAI'), ...demo }),
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
  row('`response_format`: `json_schema`', carried(), { bedrock: carried('as the answer’s format, or by a tool') }),
  row('`reasoning_effort`', carried(), {
    anthropic: carried('as thinking'),
    bedrock: carried('in the form of the model'),
    ...google(carried('thoughts are asked for')),
    mistral: carried('models that know it'),
    ...demo,
  }),
  row('`thinking` with a budget', carried(), { responses: lost(), mistral: lost(), ...demo }),
  row('thoughts given back: `thinking_blocks`', carried(), { responses: lost(), ...google(lost()), mistral: lost(), ...demo }),
  row('thoughts given back: `reasoning_content`', carried(), {
    responses: lost(),
    ...nonOpenAi(lost()),
    mistral: carried(),
    ...demo,
  }),
  row('signatures given back: `extra_content`', carried(), {
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
  row('`service_tier`', carried(), { anthropic: lost('but for `auto` and `default`'), vertex: lost(), mistral: lost(), ...demo }),
  row('`safety_settings`', carried(), { responses: lost(), bedrock: lost(), mistral: lost(), ...demo }),
  row('`user`', carried(), { ...vendors(lost()), anthropic: carried('as `metadata.user_id`'), ...demo }),
  row('`metadata`, `store`', carried(), {
    responses: carried('`metadata`: nothing is stored there'),
    ...nonOpenAi(lost()),
    anthropic: lost('but for `metadata.user_id`'),
    ...demo,
  }),
  row('`n`', carried(), { ...nonOpenAi(carried('that many calls')), demo: carried('that many replies') }),
  row('fields that Parley does not know', carried(), { responses: lost(), ...vendors(lost()), ...demo }),
];

const inWords = carried('in words');
/** A row of requests in the Messages dialect: one that speaks it is sent them as they are. */
const relayed = (name: string, usual: Cell, unusual: Partial<Record<DialectName, Cell>> = {}): Feature =>
  row(name, usual, { ...unusual, anthropic: carried() });

/** What becomes of each part of a request in the Messages dialect. */
export const messagesFeatures: readonly Feature[] = [
  relayed('`system`, messages of the role `system`', carried(), demo),
  relayed('image as data', carried(), demo),
  relayed('image by its address', carried(), { bedrock: refused('but for `s3://`'), ...demo }),
  relayed('PDF as data', carried(), demo),
  relayed('document that is text', inWords),
  relayed('document by its address', carried('its address, in words')),
  relayed('image or document by its file id', refused()),
  relayed('`search_result`', inWords),
  relayed('`citations` asked for', lost()),
  relayed('`cache_control` of system, text, images, documents, results', lost(), { bedrock: carried('as a cache point') }),
  relayed('`cache_control` of the request and of tools', lost()),
  relayed('tools', carried()),
  relayed('`defer_loading` and other fields of tools', lost()),
  relayed('tools that the upstream runs, or knows without a schema', lost('unless a call of one is demanded')),
  relayed('`mcp_servers`', refused()),
  relayed('`tool_choice`: `any`', carried()),
  relayed('`disable_parallel_tool_use`', carried(), { ...google(lost()), ...demo }),
  relayed('calls and their results', carried()),
  relayed('`is_error` of a result', inWords),
  relayed('image in a result', carried('behind the result'), demo),
  relayed('`tool_reference` in a result', inWords),
  relayed('`tool_addition`, `tool_removal` by name', inWords, demo),
  relayed('blocks of tools that an upstream ran: `server_tool_use`, `mcp_tool_use`, their results', refused()),
  relayed('`container_upload`, blocks that are not known', refused()),
  relayed('`thinking`, `redacted_thinking` of earlier turns', lost(), { bedrock: carried(), application: carried() }),
  relayed('`thinking` of earlier turns without a signature', lost(), {
    openai: carried('as `reasoning_content`'),
    azure: carried('as `reasoning_content`'),
    mistral: carried('as a thought'),
    application: carried('as `reasoning_content`'),
  }),
  relayed('`thinking` with a budget', carried('as an effort'), {
    ...{ bedrock: carried(), mistral: carried('as an effort, models that know it') },
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
  relayed('`metadata.user_id`', carried('over 64 characters as its SHA-256'), { ...vendors(lost()), ...demo }),
  relayed('`service_tier`', lost()),
  relayed('`context_management`, `container`, fields that Parley does not know', lost()),
];

/** A row of requests in the Responses dialect. */
const native = (name: string, usual: Cell, unusual: Partial<Record<DialectName, Cell>> = {}): Feature =>
  row(name, usual, { ...unusual, responses: carried() });

/** What becomes of each part of a request in the Responses dialect. */
export const responsesFeatures: readonly Feature[] = [
  native('`instructions`', carried(), demo),
  native('messages of the roles `system` and `developer`', carried()),
  native('image as data', carried(), demo),
  native('image by its address', carried(), { bedrock: refused('but for `s3://`'), ...demo }),
  native('`detail` of an image', carried(), { ...nonOpenAi(lost()), ...demo }),
  native('PDF as data', carried(), demo),
  native('file by its address', carried('its address, in words'), { application: carried('as an attachment'), ...demo }),
  native('image or file by its id', refused()),
  native('refusal of an earlier turn', carried('as its words'), demo),
  native('calls and their outputs', carried()),
  native('image in an output', carried('behind the output'), demo),
  native('thoughts without `encrypted_content`', lost()),
  native('items of tools that an upstream ran, such as `web_search_call`', refused()),
  native('tools', carried(), demo),
  native('`additional_tools` in the input', carried('as tools'), demo),
  native('`strict` of a tool', carried(), demo),
  native('`custom` tools', carried('as functions with one text'), demo),
  native('the grammar of a `custom` tool', carried('in its description'), demo),
  native('`namespace` of tools', carried('under flat names, and back'), demo),
  native('other tools, such as `web_search`', lost()),
  native('`tool_choice`: `none`', carried(), demo),
  native('`tool_choice`: `required`', carried()),
  native('`tool_choice`: one function', carried()),
  native('`tool_choice`: `allowed_tools`', carried('no others are offered'), demo),
  native('`parallel_tool_calls`: false', carried(), { bedrock: carried('Claude only'), ...google(lost()), ...demo }),
  native('`max_tool_calls`', lost()),
  native('`reasoning.effort`', carried(), { mistral: carried('models that know it'), ...demo }),
  native('`text.format`: `json_object`', carried()),
  native('`text.format`: `json_schema`', carried()),
  native('`text.verbosity`', carried(), { ...nonOpenAi(lost()), ...demo }),
  native('`max_output_tokens`', carried(), demo),
  native('`temperature`', carried(), demo),
  native('`top_p`', carried(), demo),
  native('`presence_penalty`, `frequency_penalty`', carried(), { anthropic: lost(), bedrock: lost(), ...demo }),
  native('`top_logprobs`', lost()),
  native('`user`, `safety_identifier`', carried(), { ...vendors(lost()), ...demo }),
  native('`service_tier`, but for `auto` and `default`', carried(), {
    anthropic: lost(),
    vertex: lost(),
    mistral: lost(),
    ...demo,
  }),
  native('`prompt_cache_key`', lost('but keeps a conversation at one upstream')),
  native('`include` of what only tools of an upstream have', lost()),
  native('`prompt`, `context_management`, fields that Parley does not know', lost()),
];

const itself = { demo: none() };

/** What becomes of each part of a reply. */
export const replyFeatures: readonly Feature[] = [
  row('text, as it comes', carried()),
  row('thoughts: `reasoning_content`', carried(), itself),
  row('what signs them, to be given back', carried(), {
    anthropic: carried('`thinking_blocks`'),
    bedrock: carried('`thinking_blocks`'),
    ...google(carried('`extra_content.google.thought_signature` of calls and text')),
    mistral: none(),
    responses: lost(),
    ...itself,
  }),
  row('several calls at once', carried(), itself),
  row('tokens that the cache gave', carried(), itself),
  row('tokens of thought', carried(), { bedrock: none(), mistral: none(), ...itself }),
  row('safety stop: `content_filter`', carried(), itself),
  row('why it stopped: `refusal`', carried(), { bedrock: none(), mistral: none(), ...itself }),
  row('sources', carried(), {
    ...{ anthropic: carried('as attachments'), bedrock: lost(), mistral: lost(), ...google(carried('as attachments')) },
    ...itself,
  }),
  row('files that the model makes', carried(), {
    responses: none(),
    ...nonOpenAi(none()),
    ...google(carried('as attachments')),
    ...itself,
  }),
  row('probabilities: `logprobs`', carried(), { ...nonOpenAi(none()), ...itself }),
  row('embeddings', carried(), { anthropic: refused(), application: none() }),
];
