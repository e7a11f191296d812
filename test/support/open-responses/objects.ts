// Schemas of server output in the Open Responses specification, under the names of the specification, in the notation of
// `conformance.ts`. Version of 2026-04-24: openresponses/openresponses, public/openapi/openapi.json at 1e33c10.

const texts = {
  InputTextContent: { type: '"input_text"', text: 'string' },
  OutputTextContent: { type: '"output_text"', text: 'string', annotations: 'Annotation[]', 'logprobs?': 'LogProb[]' },
  TextContent: { type: '"text"', text: 'string' },
  SummaryTextContent: { type: '"summary_text"', text: 'string' },
  ReasoningTextContent: { type: '"reasoning_text"', text: 'string' },
  RefusalContent: { type: '"refusal"', refusal: 'string' },
};

const contents = {
  ...texts,
  InputImageContent: { type: '"input_image"', image_url: 'string | null', detail: '"low" | "high" | "auto"' },
  InputFileContent: { type: '"input_file"', 'filename?': 'string', 'file_url?': 'string' },
  InputVideoContent: { type: '"input_video"', video_url: 'string' },
  ContentPart: [...Object.keys(texts), 'InputImageContent', 'InputFileContent'].join(' | '),
  MessageContent: 'ContentPart | InputVideoContent',
  CallOutputContent: 'InputTextContent | InputImageContent | InputFileContent',
  UrlCitationBody: {
    ...{ type: '"url_citation"', url: 'string', title: 'string' },
    ...{ start_index: 'integer', end_index: 'integer' },
  },
  Annotation: 'UrlCitationBody',
  TopLogProb: { token: 'string', logprob: 'number', bytes: 'integer[]' },
  LogProb: { token: 'string', logprob: 'number', bytes: 'integer[]', top_logprobs: 'TopLogProb[]' },
};

const status = '"in_progress" | "completed" | "incomplete"';

const items = {
  Message: {
    ...{ type: '"message"', id: 'string', status, role: '"user" | "assistant" | "system" | "developer"' },
    content: 'MessageContent[]',
    'phase?': '"commentary" | "final_answer"',
  },
  FunctionCall: { type: '"function_call"', id: 'string', call_id: 'string', name: 'string', arguments: 'string', status },
  FunctionCallOutput: {
    ...{ type: '"function_call_output"', id: 'string', call_id: 'string', status },
    output: 'string | CallOutputContent[]',
  },
  ReasoningBody: {
    ...{ type: '"reasoning"', id: 'string', summary: 'ContentPart[]' },
    ...{ 'content?': 'ContentPart[]', 'encrypted_content?': 'string' },
  },
  CompactionBody: { type: '"compaction"', id: 'string', encrypted_content: 'string', 'created_by?': 'string' },
  ItemField: 'Message | FunctionCall | FunctionCallOutput | ReasoningBody | CompactionBody',
};

const settings = {
  FunctionTool: {
    ...{ type: '"function"', name: 'string', description: 'string | null' },
    ...{ parameters: 'object | null', strict: 'boolean | null' },
  },
  Tool: 'FunctionTool',
  ToolChoiceValueEnum: '"none" | "auto" | "required"',
  FunctionToolChoice: { type: '"function"', 'name?': 'string' },
  AllowedToolChoice: { type: '"allowed_tools"', tools: 'FunctionToolChoice[]', mode: 'ToolChoiceValueEnum' },
  TextResponseFormat: { type: '"text"' },
  JsonObjectResponseFormat: { type: '"json_object"' },
  JsonSchemaResponseFormat: {
    ...{ type: '"json_schema"', name: 'string', description: 'string | null' },
    ...{ schema: 'null', strict: 'boolean' },
  },
  TextField: {
    format: 'TextResponseFormat | JsonObjectResponseFormat | JsonSchemaResponseFormat',
    'verbosity?': '"low" | "medium" | "high"',
  },
  Reasoning: {
    effort: '"none" | "low" | "medium" | "high" | "xhigh" | null',
    summary: '"concise" | "detailed" | "auto" | null',
  },
};

const responses = {
  IncompleteDetails: { reason: 'string' },
  Error: { code: 'string', message: 'string' },
  InputTokensDetails: { cached_tokens: 'integer' },
  OutputTokensDetails: { reasoning_tokens: 'integer' },
  Usage: {
    ...{ input_tokens: 'integer', output_tokens: 'integer', total_tokens: 'integer' },
    ...{ input_tokens_details: 'InputTokensDetails', output_tokens_details: 'OutputTokensDetails' },
  },
  ResponseResource: {
    ...{ id: 'string', object: '"response"', created_at: 'integer', completed_at: 'integer | null', status: 'string' },
    ...{ incomplete_details: 'IncompleteDetails | null', model: 'string', previous_response_id: 'string | null' },
    ...{ instructions: 'string | null', output: 'ItemField[]', error: 'Error | null', tools: 'Tool[]' },
    tool_choice: 'FunctionToolChoice | ToolChoiceValueEnum | AllowedToolChoice',
    ...{ truncation: '"auto" | "disabled"', parallel_tool_calls: 'boolean', text: 'TextField', top_p: 'number' },
    ...{ presence_penalty: 'number', frequency_penalty: 'number', top_logprobs: 'integer', temperature: 'number' },
    ...{ reasoning: 'Reasoning | null', usage: 'Usage | null', max_output_tokens: 'integer | null' },
    ...{ max_tool_calls: 'integer | null', store: 'boolean', background: 'boolean', service_tier: 'string' },
    ...{ metadata: 'anything', safety_identifier: 'string | null', prompt_cache_key: 'string | null' },
  },
  CompactResource: {
    ...{ id: 'string', object: '"response.compaction"', output: 'ItemField[]', created_at: 'integer', usage: 'Usage' },
  },
  ErrorPayload: {
    ...{ type: 'string', code: 'string | null', message: 'string', param: 'string | null' },
    'headers?': '{string}',
  },
};

/** Envelopes that the specification does not describe. They follow the API of OpenAI. */
const envelopes = {
  ErrorAnswer: { error: 'ErrorPayload' },
  ItemList: { object: '"list"', data: 'ItemField[]', first_id: 'string | null', last_id: 'string | null', has_more: 'boolean' },
};

export const objects = { ...contents, ...items, ...settings, ...responses, ...envelopes };
