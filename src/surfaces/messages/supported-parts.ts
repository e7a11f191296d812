/** The keys of each part of a request that are translated. */
export const keys = {
  request: [
    ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'metadata'],
    ...['max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_p', 'mcp_servers'],
  ],
  thinking: ['type', 'budget_tokens'],
  output_config: ['effort', 'format'],
  metadata: ['user_id'],
  tools: ['name', 'type', 'description', 'input_schema', 'strict'],
  tool_choice: ['type', 'name', 'disable_parallel_tool_use'],
  messages: ['role', 'content', 'parley'],
} as const;

/** The same of each block, beside its type. */
export const blockKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['source']],
  ['document', ['source', 'title', 'context']],
  ['search_result', ['title', 'source', 'content']],
  ['tool_reference', ['tool_name']],
  ['tool_addition', ['tool']],
  ['tool_removal', ['tool']],
  ['tool_use', ['id', 'name', 'input']],
  ['tool_result', ['tool_use_id', 'content', 'is_error']],
  ['thinking', ['thinking', 'signature']],
  ['redacted_thinking', ['data']],
]);

const toRead = ['text', 'image', 'document', 'search_result'];
/** The blocks that are translated at each place. */
export const blocksAt: Readonly<Record<string, readonly string[]>> = {
  user: [...toRead, 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
  system: ['text', 'tool_addition', 'tool_removal'],
  tool_result: [...toRead, 'tool_reference'],
  document: ['text', 'image'],
  search_result: ['text'],
};

/** Where what a block holds can be from; a file in the store of another vendor nobody else can read. */
export const sourcesOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['image', ['base64', 'url']],
  ['document', ['base64', 'url', 'text', 'content']],
]);
/** The blocks that can say up to where a prompt may be cached. */
export const marked: ReadonlySet<string> = new Set([...toRead, 'tool_result']);
