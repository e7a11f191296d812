import { toBucket } from '#domain/files/bucket.ts';
import { quickApp } from '../applications/support.ts';

/** Bucket of the caller with `callerKey`. */
export const bucket = toBucket('key:test');
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const weather = { name: 'weather', description: 'It', parameters: { type: 'object', properties: { city: { type: 'string' } } } };
const control = { label: 'Yes', value: { a: 1 } };
const attachment = { index: 0, type: 'text/plain', title: 'a', url: `files/${bucket}/a` };

export const chat = {
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }, image], custom_content: { attachments: [attachment] } },
    { role: 'assistant', content: '', function_call: { name: 'weather', arguments: '{}' } },
    { role: 'function', name: 'weather', content: 'sunny' },
    { role: 'assistant', content: 'Hi', custom_content: { state: { a: [1] }, attachments: [attachment] } },
    { role: 'user', content: 'Bye', custom_content: { completed_control: control } },
  ],
  functions: [weather],
  function_call: { name: 'weather' },
  stream: false,
  ...{ temperature: 1, top_p: 1, n: 2, stop: ['a'], max_tokens: 5, presence_penalty: 0, frequency_penalty: 0 },
  ...{ logit_bias: { 1: 1 }, user: 'u', seed: 1, response_format: { type: 'text' }, stream_options: { include_usage: true } },
};
export const toolChat = {
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'sunny' },
  ],
  tools: [{ type: 'function', function: weather }],
  tool_choice: 'auto',
};
export const message = {
  model: 'claude',
  max_tokens: 10,
  system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'tool_use', id: 't', name: 'weather', input: { a: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'sunny' }] }] },
  ],
  tools: [{ name: 'weather', description: 'It', input_schema: { type: 'object' } }],
  tool_choice: { type: 'auto' },
  thinking: { type: 'enabled', budget_tokens: 1024 },
  ...{ stop_sequences: ['x'], temperature: 1, top_p: 1, top_k: 1, metadata: { user_id: 'u' }, stream: false },
};
const rest = {
  type: 'rest-api',
  name: 'shop',
  authorization: { type: 'api_key', key: 'k', name: 'x-key', location: 'header' },
  tools: [
    {
      rest_api_method_info: { method_url: 'https://x.test/{id}', method_type: 'get' },
      open_ai_tool: {
        type: 'function',
        function: {
          name: 'find',
          description: 'It',
          parameters: { type: 'object', properties: { id: { type: 'string', parameter_info: { type: 'path', key: 'id' } } } },
        },
      },
    },
  ],
};
export const application = quickApp(
  {
    starters: ['Hi'],
    applications_as_tools: ['demo', { conditions: [{ condition_type: 'match', property_name: 'id', expression: 'a+' }] }],
    client_toolset: [
      { name: 'ask', description: 'It', parameters: [{ name: 'a', description: 'It', parameter_type: 'string' }] },
    ],
    web_api_toolset: [rest],
    mcp_toolset: [
      { type: 'mcp', name: 'm', mcp_server_info: { url: 'https://x.test/mcp', protocol: 'sse', authorization: null } },
    ],
    document_relative_url: [`files/${bucket}/a`],
  },
  { displayName: 'Mine', userRoles: ['staff'], dependencies: ['demo'], features: { consentRequired: true } },
);
const operation = { operationId: 'find', parameters: [{ name: 'id', in: 'query', schema: { $ref: '#/components/schemas/Id' } }] };
export const document = {
  openapi: '3.0.0',
  info: { title: 'x', version: '1' },
  servers: [{ url: 'https://x.test/{v}', variables: { v: { default: '1' } } }],
  paths: {
    '/a/{id}': { get: operation, post: { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } } },
  },
  components: { schemas: { Id: { type: 'string' } }, securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'x' } } },
  security: [{ k: [] }],
};
