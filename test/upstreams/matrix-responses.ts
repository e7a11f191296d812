import type { Body, ProbeBodies as Probe } from './matrix-support.ts';

const text = (words: string) => ({ type: 'input_text', text: words });
const user = (...content: object[]) => ({ role: 'user', content });
const hello = user(text('Hello'));
const base = { input: [hello] };
const part = (addition: object): Body => ({ input: [user(text('Hello'), addition)] });
const words = part(text(' '));
const field = (fields: object): Probe => [base, { ...base, ...fields }];
const item = (...items: object[]): Body => ({ input: [hello, ...items, user(text('On.'))] });
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const tool = { type: 'function', name: 'get_weather', description: 'The weather.', parameters };
const withTool = { ...base, tools: [tool] };
const toolField = (fields: object): Probe => [withTool, { ...withTool, ...fields }];
const png = 'data:image/png;base64,iVBORw0KGgo=';
const call = { type: 'function_call', call_id: 'call_0', name: 'get_weather', arguments: '{"city":"Paris"}' };
const output = (addition: unknown) => ({ type: 'function_call_output', call_id: 'call_0', output: addition });
const answered = (addition: unknown): Body => ({ ...withTool, input: [hello, call, output(addition)] });
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "patch"' };
const custom = { type: 'custom', name: 'apply', description: 'Applies.' };
const format = (addition: object): Probe => field({ text: { format: addition } });

/** Like `requestProbes`, for requests of the Responses API. */
export const responsesProbes: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ['`instructions`', field({ instructions: 'Be brief.' })],
  ['messages of the roles `system` and `developer`', [base, item({ role: 'developer', content: 'Be brief.' })]],
  ['image as data', [words, part({ type: 'input_image', image_url: png })]],
  ['image by URL', [words, part({ type: 'input_image', image_url: 'https://example.org/a.png' })]],
  [
    '`detail` of an image',
    [part({ type: 'input_image', image_url: png }), part({ type: 'input_image', image_url: png, detail: 'low' })],
  ],
  ['PDF as data', [words, part({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' })]],
  ['file by URL', [words, part({ type: 'input_file', file_url: 'https://example.org/a.pdf' })]],
  ['image or file by ID', [words, part({ type: 'input_file', file_id: 'file_1' })]],
  [
    'earlier refusal',
    [
      item({ role: 'assistant', content: [] }),
      item({ role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] }),
    ],
  ],
  ['calls and outputs', [withTool, answered('sunny')]],
  ['image in an output', [answered('sunny'), answered([text('sunny'), { type: 'input_image', image_url: png }]), 'iVBORw0KGgo=']],
  [
    'thoughts without `encrypted_content`',
    [base, item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }), 'Hm.'],
  ],
  [
    'items of vendor tools, such as `web_search_call`',
    [base, item({ type: 'web_search_call', id: 'ws_1', status: 'completed' })],
  ],
  ['tools', [base, withTool]],
  ['`additional_tools` in the input', [base, item({ type: 'additional_tools', tools: [tool] }), 'get_weather']],
  ['`strict` of a tool', [withTool, { ...base, tools: [{ ...tool, strict: true }] }]],
  ['`custom` tools', [withTool, { ...base, tools: [tool, custom] }]],
  [
    'grammar of a `custom` tool',
    [
      { ...base, tools: [custom] },
      { ...base, tools: [{ ...custom, format: grammar }] },
    ],
  ],
  [
    '`namespace` of tools',
    [withTool, { ...base, tools: [tool, { type: 'namespace', name: 'crm', tools: [{ ...tool, name: 'find' }] }] }],
  ],
  ['other tools, such as `web_search`', [withTool, { ...base, tools: [tool, { type: 'web_search' }] }]],
  ['`tool_choice`: `none`', toolField({ tool_choice: 'none' })],
  ['`tool_choice`: `required`', toolField({ tool_choice: 'required' })],
  ['`tool_choice`: one function', toolField({ tool_choice: { type: 'function', name: 'get_weather' } })],
  [
    '`tool_choice`: `allowed_tools`',
    [
      { ...base, tools: [tool, { ...tool, name: 'other' }] },
      {
        ...{ ...base, tools: [tool, { ...tool, name: 'other' }] },
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_weather' }] },
      },
    ],
  ],
  ['`parallel_tool_calls`: false', toolField({ parallel_tool_calls: false })],
  ['`max_tool_calls`', toolField({ max_tool_calls: 3 })],
  ['`reasoning.effort`', field({ reasoning: { effort: 'low' } })],
  ['`text.format`: `json_object`', format({ type: 'json_object' })],
  ['`text.format`: `json_schema`', format({ type: 'json_schema', name: 'x', schema: { type: 'object', properties: {} } })],
  ['`text.verbosity`', field({ text: { verbosity: 'low' } })],
  ['`max_output_tokens`', field({ max_output_tokens: 2000 })],
  ['`temperature`', field({ temperature: 0.25 })],
  ['`top_p`', field({ top_p: 0.25 })],
  ['`presence_penalty`, `frequency_penalty`', field({ presence_penalty: 0.5, frequency_penalty: 0.5 })],
  ['`top_logprobs`', field({ top_logprobs: 2 })],
  ['`user`, `safety_identifier`', field({ user: 'u', safety_identifier: 's' })],
  ['`service_tier` other than `auto` and `default`', field({ service_tier: 'flex' })],
  ['`prompt_cache_key`', field({ prompt_cache_key: 'k' })],
  ['`include` for vendor tools', field({ include: ['web_search_call.results'] })],
  ['`prompt`, `context_management`, unknown fields', field({ context_management: [{ type: 'compaction' }] })],
]);
