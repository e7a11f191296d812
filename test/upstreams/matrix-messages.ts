import { weatherTool } from '#test/mocked-service.ts';
import type { Body, ProbeBodies as Probe } from './matrix-support.ts';

const user = (...content: object[]) => ({ role: 'user', content });
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const hello = [user(text('Hello'))];
const base = { messages: hello, max_tokens: 9000 };
const block = (addition: object): Body => ({ ...base, messages: [user(text('Hello'), addition)] });
const words = block(text(' '));
const field = (fields: object): Probe => [base, { ...base, ...fields }];
const { name, description, parameters: input_schema } = weatherTool.function;
const tool = { name, description, input_schema };
const withTool = { ...base, tools: [tool] };
const toolField = (fields: object): Probe => [withTool, { ...withTool, ...fields }];
const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
const result = (fields: object) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny', ...fields });
const answered = (fields: object): Body => ({
  ...withTool,
  messages: [...hello, { role: 'assistant', content: [use] }, user(result(fields))],
});
const replied = (...content: object[]): Body => ({
  ...base,
  messages: [...hello, { role: 'assistant', content: [...content, text('Hi.')] }, user(text('On.'))],
});
const mark = { cache_control: { type: 'ephemeral' } };
const image = (source: object) => ({ type: 'image', source });
const document = (source: object, more: object = {}) => ({ type: 'document', source, title: 'a', ...more });
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
const plain = { type: 'text', media_type: 'text/plain', data: 'words' };
const file = { type: 'file', file_id: 'file_1' };

/** Like `requestProbes`, for requests of the Messages API. */
export const messagesProbes: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  [
    '`system`, messages of the role `system`',
    [base, { ...base, system: [text('S')], messages: [...hello, { role: 'system', content: 'T' }] }],
  ],
  ['image as data', [words, block(image(png))]],
  ['image by URL', [words, block(image({ type: 'url', url: 'https://example.org/a.png' }))]],
  ['PDF as data', [words, block(document(pdf))]],
  ['text document', [words, block(document(plain))]],
  ['document by URL', [words, block(document({ type: 'url', url: 'https://example.org/a.pdf' }))]],
  ['image or document by file ID', [words, block(document(file))]],
  ['`search_result`', [words, block({ type: 'search_result', title: 'T', source: 'S', content: [text('found')] })]],
  ['`citations`', [block(document(plain)), block(document(plain, { citations: { enabled: true } }))]],
  [
    '`cache_control` of system, text, images, documents, results',
    [
      { ...base, system: [text('S')] },
      { ...base, system: [text('S', mark)] },
    ],
  ],
  ['`cache_control` of the request and of tools', [withTool, { ...withTool, ...mark, tools: [{ ...tool, ...mark }] }]],
  ['tools', [base, withTool]],
  ['`defer_loading` and other fields of tools', [withTool, { ...withTool, tools: [{ ...tool, defer_loading: true }] }]],
  [
    'vendor tools without a schema, such as `web_search_20250305`',
    toolField({ tools: [tool, { type: 'web_search_20250305', name: 'web_search' }] }),
  ],
  ['`mcp_servers`', field({ mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.org/mcp' }] })],
  ['`tool_choice`: `any`', toolField({ tool_choice: { type: 'any' } })],
  [
    '`disable_parallel_tool_use`',
    [
      { ...withTool, tool_choice: { type: 'auto' } },
      { ...withTool, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
  ],
  ['calls and results', [withTool, answered({})]],
  ['`is_error` of a result', [answered({}), answered({ is_error: true })]],
  ['image in a result', [answered({}), answered({ content: [text('sunny'), image(png)] }), 'iVBORw0KGgo=']],
  [
    '`tool_reference` in a result',
    [answered({}), answered({ content: [text('sunny'), { type: 'tool_reference', tool_name: 'get_weather' }] })],
  ],
  [
    '`tool_addition`, `tool_removal` by name',
    [
      withTool,
      {
        ...withTool,
        messages: [
          ...hello,
          { role: 'system', content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'get_weather' } }] },
        ],
      },
    ],
  ],
  [
    '`server_tool_use`, `mcp_tool_use`, and their results',
    [replied(), replied({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} })],
  ],
  ['`container_upload` and unknown blocks', [words, block({ type: 'container_upload', file_id: 'f' })]],
  [
    '`thinking`, `redacted_thinking` of earlier turns',
    [replied(), replied({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' })],
  ],
  ['`thinking` of earlier turns without a signature', [replied(), replied({ type: 'thinking', thinking: 'Hm.', signature: '' })]],
  ['`thinking` with a budget', field({ thinking: { type: 'enabled', budget_tokens: 2000 } })],
  ['`thinking`: `disabled`', field({ thinking: { type: 'disabled' } })],
  [
    '`thinking.display`',
    [
      { ...base, thinking: { type: 'adaptive' } },
      { ...base, thinking: { type: 'adaptive', display: 'omitted' } },
    ],
  ],
  ['`output_config.effort`', field({ output_config: { effort: 'low' } })],
  [
    '`output_config.format`',
    field({
      output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } } },
    }),
  ],
  ['`max_tokens`: 0', [base, { ...base, max_tokens: 0 }]],
  ['`temperature`', field({ temperature: 0.25 })],
  ['`top_p`', field({ top_p: 0.25 })],
  ['`top_k`', field({ top_k: 25 })],
  ['`stop_sequences`', field({ stop_sequences: ['END'] })],
  ['`metadata.user_id`', field({ metadata: { user_id: 'u' } })],
  ['`service_tier`', field({ service_tier: 'auto' })],
  ['`context_management`, `container`, unknown fields', field({ context_management: { edits: [] } })],
]);
