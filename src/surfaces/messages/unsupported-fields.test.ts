import { describe, expect, it } from 'vitest';
import { toMessagesError } from '#contract/messages/dialect.ts';
import { parseMessagesRequest } from '#contract/messages/messages-request.ts';
import { findUnsupported, type UnsupportedFields, type UpstreamCapabilities } from './unsupported-fields.ts';

const hello = { role: 'user', content: 'Hello' };
const basicUpstream: UpstreamCapabilities = { mayBeRelayed: false, acceptsCacheControl: false, acceptsThinking: false };
const capableUpstream: UpstreamCapabilities = { mayBeRelayed: false, acceptsCacheControl: true, acceptsThinking: true };

function listUnsupported(body: object, capabilities = basicUpstream): UnsupportedFields {
  return findUnsupported(parseMessagesRequest({ model: 'm', max_tokens: 10, messages: [hello], ...body }), capabilities);
}

function getErrorText(body: object): string | undefined {
  const { error } = listUnsupported(body);
  return error && toMessagesError(error, 'id').error.message.split(',')[0];
}

const createUserBody = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const createAssistantBody = (...content: object[]) => ({ messages: [hello, { role: 'assistant', content }] });
const createSystemBody = (...content: object[]) => ({ messages: [hello, { role: 'system', content }] });
const createResultBody = (...content: object[]) => createUserBody({ type: 'tool_result', tool_use_id: 'a', content });
const mark = { cache_control: { type: 'ephemeral' } };
const text = { type: 'text', text: 'x' };
const tool = { name: 'f', input_schema: { type: 'object' } };
const file = { type: 'file', file_id: 'f' };

describe('findUnsupported for fields that can be omitted', () => {
  it.each([
    [{}, []],
    [{ ...createUserBody(text), system: 's', tools: [tool], tool_choice: { type: 'any' }, stop_sequences: ['a'], top_p: 1 }, []],
    [{ top_k: 5, container: null, service_tier: 'auto', brand_new: { a: 1 } }, ['top_k', 'service_tier', 'brand_new']],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, ['thinking.display']],
    [{ thinking: { type: 'disabled' } }, ['thinking']],
    [{ output_config: { effort: 'high', task_budget: { tokens: 1 } } }, ['output_config.task_budget']],
    [{ metadata: { user_id: null, more: 1 } }, ['metadata.more']],
    [{ tools: [{ ...tool, ...mark, defer_loading: true, strict: true }] }, ['cache_control', 'tools.defer_loading']],
    [{ system: [{ ...text, ...mark }], ...createUserBody({ ...text, ...mark, citations: null }) }, ['cache_control']],
    [
      createUserBody({ type: 'document', source: { type: 'url', url: 'https://a.example' }, citations: { enabled: true } }),
      ['content.citations'],
    ],
    [
      createAssistantBody(
        { type: 'tool_use', id: 'a', name: 'f', input: {}, caller: { type: 'direct' } },
        { ...text, citations: [{}] },
      ),
      ['content.caller', 'content.citations'],
    ],
    [{ messages: [{ ...hello, extra: 1 }] }, ['messages.extra']],
    [{ mcp_servers: [] }, []],
  ])('returns the fields of %j: %j', (body, ignored) => {
    expect(listUnsupported(body)).toEqual({ ignored, error: undefined });
  });

  it('returns fewer fields for upstreams with the same features', () => {
    const body = { top_k: 5, thinking: { type: 'disabled' }, ...createUserBody({ ...text, ...mark }) };
    expect([listUnsupported(body).ignored, listUnsupported(body, capableUpstream).ignored]).toEqual([
      ['top_k', 'thinking', 'cache_control'],
      [],
    ]);
  });
});

const search = { type: 'web_search_20250305', name: 'web_search' };

describe('findUnsupported for required content', () => {
  it.each([
    [{ tools: [tool, search], tool_choice: { type: 'tool', name: 'web_search' } }, 'tool_choice.name: is web_search'],
    [{ tools: [search], tool_choice: { type: 'any' } }, 'tool_choice: requires a server-side tool of another vendor'],
    [{ tools: [{ name: 'f' }] }, 'tools.0.input_schema: is missing'],
    [{ tools: [{ name: 'f', type: 'custom' }] }, 'tools.0.input_schema: is missing'],
    [{ mcp_servers: [{ name: 'a' }] }, 'mcp_servers: contains MCP servers for the model'],
    [{ max_tokens: 0 }, 'max_tokens: is 0'],
    [createUserBody(text, { type: 'container_upload', file_id: 'f' }), 'messages.0.content.1.type: is container_upload'],
    [createUserBody({ type: 'brand_new' }), 'messages.0.content.0.type: is brand_new'],
    [createUserBody({ type: '__proto__' }), 'messages.0.content.0.type: is __proto__'],
    [createUserBody({ type: 'n'.repeat(70) }), `messages.0.content.0.type: is ${'n'.repeat(64)}…`],
    [createUserBody({ type: 'image', source: file }), 'messages.0.content.0.source.type: is file'],
    [createUserBody({ type: 'document', source: file }), 'messages.0.content.0.source.type: is file'],
    [createResultBody({ type: 'browser_state' }), 'messages.0.content.0.content.0.type: is browser_state'],
    [
      createAssistantBody({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      'messages.1.content.0.type: is server_tool_use',
    ],
    [createAssistantBody({ type: 'web_search_tool_result' }), 'messages.1.content.0.type: is web_search_tool_result'],
    [createAssistantBody({ type: 'mcp_tool_use' }), 'messages.1.content.0.type: is mcp_tool_use'],
    [createAssistantBody({ type: 'image', source: { type: 'url', url: 'u' } }), 'messages.1.content.0.type: is image'],
    [createSystemBody({ type: 'image', source: { type: 'url', url: 'u' } }), 'messages.1.content.0.type: is image'],
    [
      createSystemBody({ type: 'tool_addition', tool: { type: 'tool_definition' } }),
      'messages.1.content.0.type: is tool_addition',
    ],
    [{ system: [{ type: 'image', text: '' }] }, 'system.0.type: is image'],
  ])('returns an error for %j', (body, message) => {
    expect(getErrorText(body)).toBe(message);
  });

  it.each([
    createUserBody({ type: 'search_result', title: 't', source: 's', content: [text] }),
    createResultBody(text, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }),
    createResultBody({ type: 'tool_reference', tool_name: 'f' }),
    createAssistantBody({ type: 'thinking', thinking: '', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, text),
    createSystemBody(text, { type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } }),
  ])('returns no error for content with a counterpart, as in %j', (body) => {
    expect(listUnsupported(body)).toEqual({ ignored: [], error: undefined });
  });

  it('explains the solution, and lists the content as ignored for upstreams that support it', () => {
    const { error, ignored } = listUnsupported({ ...createUserBody({ type: 'container_upload' }), max_tokens: 0 });
    expect([error?.status, error?.code, error?.param]).toEqual([400, 'invalid_request', 'max_tokens']);
    expect(error?.message).toBe(
      'max_tokens is 0, which this deployment does not support. Remove it, or use a deployment whose upstream supports the Messages API.',
    );
    expect(ignored).toEqual(['max_tokens', 'content.container_upload']);
  });
});

describe('UnsupportedFields', () => {
  it('limits the number and length of the names', () => {
    const fields = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`${n}${'x'.repeat(100)}`, 1]));
    const { ignored } = listUnsupported(fields);
    expect([ignored.length, ignored[0]?.length]).toEqual([1000, 64]);
  });
});
