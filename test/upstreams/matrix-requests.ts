import { weatherTool } from '#test/mocked-service.ts';
import type { Body, ProbeBodies as Probe } from './matrix-support.ts';

const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more });
const hello = [user('Hello')];
const base = { messages: hello };
const png = 'data:image/png;base64,iVBORw0KGgo=';
const part = (addition: object): Body => ({ messages: [user([{ type: 'text', text: 'Hello' }, addition])] });
const words = part({ type: 'text', text: ' ' });
const thinking = { ...base, max_tokens: 9000 };
const field = (fields: object): Probe => [base, { ...base, ...fields }];
const withTools = { ...base, tools: [weatherTool] };
const toolField = (fields: object): Probe => [withTools, { ...withTools, ...fields }];
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const strictTool = (strict?: boolean): object => ({
  ...weatherTool,
  function: { ...weatherTool.function, parameters: schema, ...(strict && { strict }) },
});
const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } };
const callMessage = { role: 'assistant', content: null, tool_calls: [call] };
const answered = (content: unknown) => ({ role: 'tool', tool_call_id: 'call_1', content });
const conversation = (...more: object[]): Body => ({ ...withTools, messages: [...hello, ...more] });
const replied = (fields: object): Body => ({
  messages: [...hello, { role: 'assistant', content: 'Hi.', ...fields }, user('On.')],
});
const attachment = (addition: object): Body => ({ messages: [user('Hello', { custom_content: { attachments: [addition] } })] });

/** Requests without and with the feature of a table row. */
export const requestProbes: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  [
    '`system` and `developer` messages',
    [base, { messages: [{ role: 'system', content: 'S' }, { role: 'developer', content: 'D' }, ...hello] }],
  ],
  ['`name` of a user', [base, { messages: [user('Hello', { name: 'ann' })] }]],
  ['image as data', [words, part({ type: 'image_url', image_url: { url: png } })]],
  ['image by URL', [words, part({ type: 'image_url', image_url: { url: 'https://example.org/a.png' } })]],
  [
    '`detail` of an image',
    [part({ type: 'image_url', image_url: { url: png } }), part({ type: 'image_url', image_url: { url: png, detail: 'low' } })],
  ],
  [
    'PDF as data',
    [words, part({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } })],
  ],
  ['text file as data', [words, part({ type: 'file', file: { filename: 'a.csv', file_data: 'data:text/csv;base64,YSxi' } })]],
  ['file by ID', [words, part({ type: 'file', file: { file_id: 'file-1' } })]],
  ['audio', [words, part({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })]],
  ['image attachment', [base, attachment({ type: 'image/png', data: 'iVBORw0KGgo=' })]],
  ['text attachment', [base, attachment({ type: 'text/plain', title: 'a.txt', data: 'words' })]],
  ['`custom_content.state`', [replied({}), replied({ custom_content: { state: { a: 1 } } })]],
  ['tools', [base, withTools]],
  ['tools of OpenAI, such as `web_search`', [base, { ...base, tools: [{ type: 'web_search' }] }]],
  [
    'tools of Anthropic, such as `web_search_20250305`',
    [base, { ...base, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ],
  ['`functions`', [base, { ...base, functions: [weatherTool.function] }]],
  ['`tool_choice`: `none`', toolField({ tool_choice: 'none' })],
  ['`tool_choice`: `required`', toolField({ tool_choice: 'required' })],
  [
    '`tool_choice`: one function',
    [
      { ...withTools, tool_choice: 'required' },
      { ...withTools, tool_choice: { type: 'function', function: { name: 'get_weather' } } },
    ],
  ],
  ['`parallel_tool_calls`: false', toolField({ parallel_tool_calls: false })],
  [
    '`strict` of a tool',
    [
      { ...base, tools: [strictTool()] },
      { ...base, tools: [strictTool(true)] },
    ],
  ],
  ['calls and results', [conversation(), conversation(callMessage, answered('sunny'))]],
  ['calls in a request without `tools`', [base, { messages: [...hello, callMessage, answered('sunny')] }]],
  [
    'image in a tool result',
    [
      conversation(callMessage, answered('See.')),
      conversation(
        callMessage,
        answered([
          { type: 'text', text: 'See.' },
          { type: 'image_url', image_url: { url: png } },
        ]),
      ),
      'iVBORw0KGgo=',
    ],
  ],
  ['`max_tokens`, `max_completion_tokens`', field({ max_tokens: 77 })],
  ['`temperature`', field({ temperature: 0.25 })],
  [
    '`temperature` above 1',
    [
      { ...base, temperature: 1 },
      { ...base, temperature: 1.25 },
    ],
  ],
  ['`top_p`', field({ top_p: 0.25 })],
  ['`top_k`', field({ top_k: 25 })],
  ['`stop`', field({ stop: ['END'] })],
  ['`seed`', field({ seed: 25 })],
  ['`presence_penalty`, `frequency_penalty`', field({ presence_penalty: 0.5, frequency_penalty: 0.5 })],
  ['`logit_bias`', field({ logit_bias: { 25: 5 } })],
  ['`logprobs`', field({ logprobs: true, top_logprobs: 2 })],
  ['`response_format`: `json_object`', field({ response_format: { type: 'json_object' } })],
  ['`response_format`: `json_schema`', field({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } })],
  ['`reasoning_effort`', [thinking, { ...thinking, reasoning_effort: 'high' }]],
  ['`thinking` with a budget', [thinking, { ...thinking, thinking: { type: 'enabled', budget_tokens: 1024 } }]],
  [
    '`thinking_blocks` of an earlier reply',
    [replied({}), replied({ thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }] })],
  ],
  ['`reasoning_content` of an earlier reply', [replied({}), replied({ reasoning_content: 'Hm.' })]],
  [
    '`extra_content` of an earlier reply (signatures)',
    [replied({}), replied({ extra_content: { google: { thought_signature: 'c2ln' } } })],
  ],
  [
    '`cache_control` of a part',
    [
      { messages: [user([{ type: 'text', text: 'Hello' }])] },
      { messages: [user([{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }])] },
    ],
  ],
  ['`prompt_cache_key`', field({ prompt_cache_key: 'k' })],
  ['`service_tier`', field({ service_tier: 'flex' })],
  ['`safety_settings`', field({ safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] })],
  ['`user`', field({ user: 'u-1' })],
  ['`metadata`, `store`', field({ metadata: { a: 'b' }, store: true })],
  ['`n`', field({ n: 2 })],
  ['unknown fields', field({ x_unknown: 1 })],
]);
