import { describe, expect, it } from 'vitest';
import { ParleyError, toParleyError } from '../errors/errors.ts';
import { toMessagesError } from './dialect.ts';
import { parseCountRequest, parseMessagesRequest } from './messages-request.ts';

const validBody = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

function getErrorMessage(body: unknown): string {
  try {
    parseMessagesRequest(JSON.parse(JSON.stringify(body)));
  } catch (thrown) {
    return toMessagesError(toParleyError(thrown), 'id').error.message;
  }
  return 'none';
}

const withBlocks = (...content: unknown[]) => ({ ...validBody, messages: [{ role: 'user', content }] });
const createAssistantBody = (...content: unknown[]) => ({
  ...validBody,
  messages: [...validBody.messages, { role: 'assistant', content }],
});

describe('parseMessagesRequest', () => {
  it('returns a valid request unchanged, including unknown fields', () => {
    const body = {
      ...validBody,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'new_block', a: 1 },
            { type: 'image', source: { type: 'new_source' } },
          ],
          extra: 1,
        },
      ],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
      thinking: { type: 'new', display: 'omitted' },
      mcp_servers: [],
      container: null,
    };
    expect(parseMessagesRequest(structuredClone(body))).toEqual(body);
  });

  it.each([
    [[], 'The body must be an object.'],
    [{ ...validBody, max_tokens: undefined }, 'max_tokens: is required.'],
    [{ ...validBody, max_tokens: '10' }, 'max_tokens: must be an integer.'],
    [{ ...validBody, messages: undefined }, 'messages: is required.'],
    [{ ...validBody, messages: [] }, 'messages: must have at least 1 item.'],
    [{ ...validBody, messages: [{ content: 'x' }] }, 'messages.0.role: is required.'],
    [{ ...validBody, messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role: must be "user", "assistant" or "system".'],
    [{ ...validBody, messages: [{ role: 'user' }] }, 'messages.0.content: is required.'],
    [{ ...validBody, messages: [{ role: 'user', content: 1 }] }, 'messages.0.content: must be a string or an array.'],
    [
      { ...validBody, messages: [{ role: 'user', Content: 'x', content: 'y' }] },
      'messages.0.Content: is not a known field. The name is content.',
    ],
    [{ ...validBody, Model: 'other' }, 'Model: is not a known field. The name is model.'],
    [{ ...validBody, temperature: 1.5 }, 'temperature: must be at most 1.'],
    [{ ...validBody, top_p: -1 }, 'top_p: must be at least 0.'],
    [{ ...validBody, stop_sequences: ['a', 1] }, 'stop_sequences.1: must be a string.'],
    [{ ...validBody, stream: 'yes' }, 'stream: must be a boolean.'],
    [{ ...validBody, system: [{ type: 'text' }] }, 'system.0.text: is required.'],
    [{ ...validBody, tools: [{ input_schema: {} }] }, 'tools.0.name: is required.'],
    [{ ...validBody, tools: [{ name: 'a b' }] }, 'tools.0.name: must match ^[a-zA-Z0-9_-]{1,128}$.'],
    [{ ...validBody, tool_choice: { type: 'some' } }, 'tool_choice.type: must be "auto", "any", "tool" or "none".'],
    [{ ...validBody, tool_choice: { type: 'tool' } }, 'tool_choice.name: is required with the type tool.'],
    [{ ...validBody, thinking: { type: 'enabled', budget_tokens: 'many' } }, 'thinking.budget_tokens: must be an integer.'],
    [{ ...validBody, metadata: { user_id: 5 } }, 'metadata.user_id: must be a string or null.'],
    [withBlocks('x'), 'messages.0.content.0: must be an object.'],
    [withBlocks({ text: 'x' }), 'messages.0.content.0.type: is required.'],
    [withBlocks({ type: 'text' }), 'messages.0.content.0.text: is required.'],
    [withBlocks({ type: 'text', text: 'x' }, { type: 'image' }), 'messages.0.content.1.source: is required.'],
    [
      withBlocks({ type: 'image', source: { type: 'base64', data: 'x' } }),
      'messages.0.content.0.source.media_type: is required.',
    ],
    [withBlocks({ type: 'image', source: { type: 'url' } }), 'messages.0.content.0.source.url: is required.'],
    [
      withBlocks({ type: 'document', source: { type: 'content', content: [{ type: 'text' }] } }),
      'messages.0.content.0.source.content.0.text: is required.',
    ],
    [withBlocks({ type: 'tool_result' }), 'messages.0.content.0.tool_use_id: is required.'],
    [
      withBlocks({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: {} }] }),
      'messages.0.content.0.content.0.source.type: is required.',
    ],
    [
      withBlocks({ type: 'search_result', title: 't', source: 's', content: 5 }),
      'messages.0.content.0.content: must be an array.',
    ],
    [
      withBlocks({ type: 'search_result', title: 't', source: 's', content: [{ type: 'text' }] }),
      'messages.0.content.0.content.0.text: is required.',
    ],
    [
      withBlocks({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference' }] }),
      'messages.0.content.0.content.0.tool_name: is required.',
    ],
    [
      withBlocks({ type: 'tool_use', id: 'a', name: 'f', input: {} }),
      'messages.0.content.0.type: must not be tool_use in a message with the role user.',
    ],
    [
      createAssistantBody({ type: 'tool_use', id: 'a', name: 'f', input: '{}' }),
      'messages.1.content.0.input: must be an object.',
    ],
    [
      createAssistantBody({ type: 'tool_result', tool_use_id: 'a' }),
      'messages.1.content.0.type: must not be tool_result in a message with the role assistant.',
    ],
    [createAssistantBody({ type: 'thinking', thinking: 'x' }), 'messages.1.content.0.signature: is required.'],
    [
      { ...validBody, messages: [{ role: 'user', content: 'x', parley: { custom_content: { state: {} } } }] },
      'messages.0.parley.custom_content.state: is for assistant messages only.',
    ],
    [
      { ...validBody, messages: [{ role: 'user', content: 'x', parley: { custom_content: { attachments: [{}] } } }] },
      'messages.0.parley.custom_content.attachments.0: must have data or url.',
    ],
  ])('rejects %j', (body, message) => {
    expect(getErrorMessage(body)).toBe(message);
  });

  it('requires max_tokens, but parseCountRequest does not', () => {
    const { max_tokens: _bound, ...body } = validBody;
    expect(parseCountRequest(body)).toEqual(body);
    expect(() => parseCountRequest({ ...body, messages: [] })).toThrow(ParleyError);
  });
});

describe('toMessagesError', () => {
  it.each([
    ['invalid_request', 'invalid_request_error'],
    ['ambiguous_credentials', 'invalid_request_error'],
    ['missing_credentials', 'authentication_error'],
    ['access_denied', 'permission_error'],
    ['deployment_not_found', 'not_found_error'],
    ['method_not_allowed', 'invalid_request_error'],
    ['payload_too_large', 'request_too_large'],
    ['unsupported_media_type', 'invalid_request_error'],
    ['token_limit_exceeded', 'rate_limit_error'],
    ['internal_error', 'api_error'],
    ['upstream_failed', 'api_error'],
    ['upstream_unavailable', 'overloaded_error'],
    ['shutting_down', 'overloaded_error'],
  ] as const)('converts the code %s to the type %s', (code, type) => {
    expect(toMessagesError(new ParleyError(code, 'So it is.'), 'id')).toEqual({
      type: 'error',
      error: { type, message: 'So it is.' },
      request_id: 'id',
    });
  });
});
