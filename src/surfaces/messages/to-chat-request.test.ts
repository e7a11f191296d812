import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toolOutput } from '#contract/chat/message.ts';
import { parseMessagesRequest } from '#contract/messages/messages-request.ts';
import { toChatRequest } from './to-chat-request.ts';
import { ToolNames, type TranslationContext } from './to-messages.ts';
import type { UpstreamCapabilities } from './unsupported-fields.ts';

const hello = { role: 'user', content: 'Hello' };

const basicUpstream: UpstreamCapabilities = { mayBeRelayed: false, acceptsCacheControl: false, acceptsThinking: false };
const capableUpstream: UpstreamCapabilities = { mayBeRelayed: false, acceptsCacheControl: true, acceptsThinking: true };

function translate(
  body: object,
  { names = new ToolNames(), capabilities = basicUpstream }: Partial<TranslationContext> = {},
): ChatRequest {
  return toChatRequest(parseMessagesRequest({ model: 'm', max_tokens: 10, messages: [hello], ...body }), { names, capabilities });
}

function translateMessages(...messages: object[]): unknown[] {
  return translate({ messages }).messages;
}

const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const pngPart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const use = (id: string, name = 'f') => ({ type: 'tool_use', id, name, input: { a: 1 } });
const createCalls = (...ids: string[]) => ({ role: 'assistant', content: ids.map((id) => use(id)) });

describe('toChatRequest for fields', () => {
  it('converts fields with a counterpart', () => {
    const body = { stream: true, temperature: 0.5, top_p: 0.9, stop_sequences: ['a', 'b'], metadata: { user_id: 'u' } };
    expect(translate(body)).toEqual({
      messages: [hello],
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['a', 'b'],
      user: 'u',
      max_tokens: 10,
    });
  });

  it('omits fields without a counterpart', () => {
    const body = { top_k: 5, service_tier: 'auto', container: 'c', cache_control: { type: 'ephemeral' }, stop_sequences: [] };
    expect(translate(body)).toEqual({ messages: [hello], max_tokens: 10 });
  });

  it('limits the user ID to 64 characters and maps equal IDs to equal values', () => {
    const [first, repeated, different] = ['a', 'a', 'b'].map(
      (end) => translate({ metadata: { user_id: 'x'.repeat(64) + end } }).user,
    );
    expect([first, first === repeated, first === different]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), true, false]);
    expect(translate({ metadata: { user_id: 'x'.repeat(64) } }).user).toBe('x'.repeat(64));
  });

  it('requests one token, the minimum, for 0 tokens', () => {
    expect(translate({ max_tokens: 0 }).max_tokens).toBe(1);
  });

  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4096 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 4097 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 16_385 } }, 'high'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }, 'medium'],
    [{ output_config: { effort: 'max' } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, undefined],
  ])('converts thinking as in %j to the effort %s', (body, effort) => {
    const request = translate(body);
    expect(request.reasoning_effort).toBe(effort);
    expect([request.max_tokens, request.max_completion_tokens]).toEqual(effort === undefined ? [10, undefined] : [undefined, 10]);
  });

  it('converts the output format', () => {
    const schema = { type: 'object' };
    expect(translate({ output_config: { format: { type: 'json_schema', schema } } }).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema },
    });
  });

  it.each([
    ['Be kind.', 'Be kind.'],
    [
      [
        { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Be brief.' },
      ],
      'Be kind.\n\nBe brief.',
    ],
  ])('converts the system text to one message', (system, content) => {
    expect(translate({ system }).messages).toEqual([{ role: 'system', content }, hello]);
  });
});

describe('toChatRequest for tools', () => {
  const tool = { name: 'f', description: 'Does.', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } };

  it('converts tools to functions and omits tools that the upstream runs', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    expect(translate({ tools: [tool, search] }).tools).toEqual([
      { type: 'function', function: { name: 'f', description: 'Does.', parameters: { type: 'object' } } },
    ]);
    expect(translate({ tools: [search], tool_choice: { type: 'any' } })).not.toHaveProperty('tool_choice');
  });

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
  ])('converts the tool choice %j', (tool_choice, expected) => {
    expect(translate({ tools: [tool], tool_choice }).tool_choice).toEqual(expected);
  });

  it('disables parallel calls on request', () => {
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    expect(translate({ tools: [tool], tool_choice }).parallel_tool_calls).toBe(false);
  });

  it('shortens long names consistently and restores them', () => {
    const names = new ToolNames();
    const [firstName, secondName] = [`${'n'.repeat(100)}1`, `${'n'.repeat(100)}2`];
    const tools = [firstName, secondName].map((name) => ({ ...tool, name }));
    const messages = [hello, { role: 'assistant', content: [use('a', firstName)] }];
    const request = translate({ tools, messages, tool_choice: { type: 'tool', name: firstName } }, { names });
    const [firstShort, secondShort] = (request.tools as { function: { name: string } }[]).map((each) => each.function.name);
    expect(firstShort).toMatch(/^n{55}_[0-9a-f]{8}$/);
    expect(secondShort).not.toBe(firstShort);
    expect(request.tool_choice).toEqual({ type: 'function', function: { name: firstShort } });
    expect(request.messages[1]).toMatchObject({ tool_calls: [{ function: { name: firstShort } }] });
    expect([names.restore(firstShort ?? ''), names.restore(secondShort ?? ''), names.restore('f')]).toEqual([
      firstName,
      secondName,
      'f',
    ]);
  });
});

describe('toChatRequest for user messages', () => {
  it('joins text blocks', () => {
    const content = ['one', 'two'].map((text) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } }));
    expect(translateMessages({ role: 'user', content })).toEqual([{ role: 'user', content: 'one\n\ntwo' }]);
  });

  it('preserves the order of text and images', () => {
    const url = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } };
    const content = [{ type: 'text', text: 'first' }, png, { type: 'text', text: 'second' }, url];
    expect(translateMessages({ role: 'user', content })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'first' },
          pngPart,
          { type: 'text', text: 'second' },
          { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
        ],
      },
    ]);
  });

  it.each([
    [
      { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
      [{ type: 'file', file: { filename: 'report', file_data: 'data:application/pdf;base64,AAAA' } }],
    ],
    [{ type: 'text', media_type: 'text/plain', data: 'words' }, 'Document "report":\nwords'],
    [{ type: 'content', content: 'words' }, 'Document "report":\n\nwords'],
    [{ type: 'content', content: [png] }, [{ type: 'text', text: 'Document "report":' }, pngPart]],
    [{ type: 'url', url: 'https://a.example/b.pdf' }, 'Document "report": https://a.example/b.pdf'],
    [{ type: 'file', file_id: 'file_1' }, 'Document "report": file file_1'],
    [{ type: 'new', thing: 1 }, 'Document "report": in a form that cannot be read here'],
  ])('converts a document of %j', (source, content) => {
    expect(translateMessages({ role: 'user', content: [{ type: 'document', title: 'report', source }] })).toEqual([
      { role: 'user', content },
    ]);
  });

  it('includes the context of a document and the results of a search', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'words' };
    const found = { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'found' }] };
    expect(translateMessages({ role: 'user', content: [{ type: 'document', source, context: 'old' }, found] })).toEqual([
      { role: 'user', content: 'About Document: old\n\nDocument:\nwords\n\nSearch result "T" (S):\n\nfound' },
    ]);
  });

  it('omits unknown blocks', () => {
    expect(
      translateMessages({
        role: 'user',
        content: [
          { type: 'container_upload', file_id: 'f' },
          { type: 'text', text: 'x' },
        ],
      }),
    ).toEqual([{ role: 'user', content: 'x' }]);
  });

  it('preserves custom content from parley', () => {
    const custom_content = { attachments: [{ title: 'A', data: 'a' }] };
    expect(translateMessages({ role: 'user', content: 'x', parley: { custom_content } })).toEqual([
      { role: 'user', content: 'x', custom_content },
    ]);
  });
});

describe('toChatRequest for tool results', () => {
  const result = (id: string, more: object = {}) => ({ type: 'tool_result', tool_use_id: id, ...more });

  it('puts them after their calls, in the given order, before the other user content', () => {
    const content = [
      { type: 'text', text: 'And?' },
      result('b', { content: 'two' }),
      result('a', { content: [{ type: 'text', text: 'one' }] }),
    ];
    expect(translateMessages(hello, createCalls('a', 'b'), { role: 'user', content }).slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } })),
      },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('moves images to the next message', () => {
    const content = [result('a', { content: [{ type: 'text', text: 'see' }, png] }), { type: 'text', text: 'And?' }];
    expect(translateMessages(hello, createCalls('a'), { role: 'user', content }).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'see' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of f:' },
          { ...pngPart, [toolOutput]: true },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('marks errors and converts missing content to empty text', () => {
    const content = [result('a', { content: 'no route', is_error: true }), result('b')];
    expect(translateMessages(hello, createCalls('a', 'b'), { role: 'user', content }).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'The tool failed: no route' },
      { role: 'tool', tool_call_id: 'b', content: '' },
    ]);
  });

  it('returns results of a function call in that form, with the state from parley', () => {
    const parley = { custom_content: { state: { step: 1 } }, statistics: { usage_per_model: [] } };
    const reply = { role: 'assistant', content: [use('fcall_msg_1')], parley };
    expect(
      translateMessages(hello, reply, { role: 'user', content: [result('fcall_msg_1', { content: '42' })] }).slice(1),
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        function_call: { name: 'f', arguments: '{"a":1}' },
        custom_content: { state: { step: 1 } },
      },
      { role: 'function', name: 'f', content: '42' },
    ]);
  });
});

describe('toChatRequest for assistant messages', () => {
  it('preserves signed thinking, converts unsigned thinking to reasoning, and joins the text', () => {
    const thoughts = [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
    ];
    const content = [
      { type: 'thinking', thinking: 'unsigned', signature: '' },
      ...thoughts,
      { type: 'text', text: 'So' },
      { type: 'text', text: '.' },
    ];
    expect(translateMessages(hello, { role: 'assistant', content })[1]).toEqual({
      role: 'assistant',
      content: 'So.',
      reasoning_content: 'unsigned',
      thinking_blocks: thoughts,
    });
  });

  it('omits tool use of the upstream', () => {
    const content = [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'text', text: 'Found.' },
    ];
    expect(translateMessages(hello, { role: 'assistant', content })[1]).toEqual({ role: 'assistant', content: 'Found.' });
  });

  it('converts system messages between other messages', () => {
    expect(translateMessages(hello, { role: 'system', content: 'Now in French.' })[1]).toEqual({
      role: 'system',
      content: 'Now in French.',
    });
  });
});

describe('toChatRequest for upstreams with the same features', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const translateForCapable = (body: object): ChatRequest => translate(body, { capabilities: capableUpstream });

  it('preserves prompt cache breakpoints at their positions', () => {
    const system = [
      { type: 'text', text: 'Be kind.', ...mark },
      { type: 'text', text: 'Be brief.' },
    ];
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'one', ...mark };
    const inner = { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'two', ...mark }] };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }, png] },
      createCalls('a', 'b'),
      { role: 'user', content: [result, inner] },
      { role: 'assistant', content: [{ type: 'text', text: 'So.', ...mark }] },
      { role: 'system', content: [{ type: 'text', text: 'Now in French.', ...mark }] },
    ];
    expect(translateForCapable({ system, messages }).messages).toMatchObject([
      { role: 'system', content: system },
      { role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }, pngPart] },
      { role: 'assistant' },
      { role: 'tool', content: [{ type: 'text', text: 'one', ...mark }] },
      { role: 'tool', content: [{ type: 'text', text: 'two', ...mark }] },
      { role: 'assistant', content: [{ type: 'text', text: 'So.', ...mark }] },
      { role: 'system', content: [{ type: 'text', text: 'Now in French.', ...mark }] },
    ]);
  });

  it('converts content without marks as for other upstreams', () => {
    const body = { system: [{ type: 'text', text: 'a' }], messages: [hello, { role: 'assistant', content: 'b' }] };
    expect(translateForCapable(body)).toEqual(translate(body));
  });

  it.each([
    [{ top_k: 5 }, { top_k: 5 }],
    [
      { thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' } },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [{ thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
    [{ thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, { reasoning_effort: 'low' }],
  ])('converts %j to %j', (body, expected) => {
    const { top_k, thinking, reasoning_effort } = translateForCapable(body);
    const translatedFields = { top_k, thinking, ...('reasoning_effort' in expected && { reasoning_effort }) };
    expect(JSON.parse(JSON.stringify(translatedFields))).toEqual(expected);
  });
});

describe('toChatRequest for content that becomes text', () => {
  it('describes which tools can be called', () => {
    const reference = { type: 'tool_reference', tool_name: 'search' };
    const change = (type: string) => ({ type, tool: { type: 'tool_reference', name: 'search' } });
    expect(
      translateMessages(
        hello,
        createCalls('a'),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [reference] }] },
        { role: 'system', content: [change('tool_addition'), change('tool_removal')] },
      ).slice(2),
    ).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'The tool search can be called.' },
      {
        role: 'system',
        content: 'From here on the tool search can be called.\n\nFrom here on the tool search must not be called.',
      },
    ]);
  });
});
