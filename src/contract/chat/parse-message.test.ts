import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import { ParleyError } from '../errors/errors.ts';
import { parseMessage } from './parse-message.ts';

const at = 'messages[2]';
const call = { name: 'weather', arguments: '{}' };
const toolCalls = [{ id: 'c', type: 'function', function: call }];
const picture = { type: 'image/png', url: 'files/a/b.png' };
const control = { label: 'Yes' };

function user(fields: object): object {
  return { role: 'user', content: 'Hello', ...fields };
}

function withAttachments(...attachments: unknown[]): object {
  return user({ custom_content: { attachments } });
}

const contentNeeded =
  'is required, except in an assistant message with a function or tool call and in a user message with a completed control';
const aContent = 'must be a string, null or an array';

const invalidCases: [name: string, message: unknown, path: string, claim: string][] = [
  ['text for a message', 'Hello', '', 'must be an object'],
  ['a list for a message', [], '', 'must be an object'],
  ['no role', { content: 'Hello' }, '.role', 'is required'],
  [
    'an unknown role',
    user({ role: 'robot' }),
    '.role',
    'must be "system", "user", "assistant", "function", "developer" or "tool"',
  ],
  [
    'a role in capitals',
    user({ role: 'User' }),
    '.role',
    'must be "system", "user", "assistant", "function", "developer" or "tool"',
  ],
  ...['system', 'user', 'developer', 'tool', 'assistant'].map((role): [string, unknown, string, string] => {
    return [`no content of ${role}`, { role }, '.content', contentNeeded];
  }),
  ['null content', { role: 'user', content: null }, '.content', 'must be a string or an array of content parts, not null'],
  ['no result of a function', { role: 'function', name: 'f' }, '.content', contentNeeded],
  ['a function call of the user for content', { role: 'user', function_call: call }, '.content', contentNeeded],
  ['tool calls of the user for content', { role: 'user', tool_calls: toolCalls }, '.content', contentNeeded],
  ['null tool calls for content', { role: 'assistant', tool_calls: null }, '.content', contentNeeded],
  ['a number for content', user({ content: 5 }), '.content', aContent],
  ['an object for content', user({ content: {} }), '.content', aContent],
  ['a part that is text', user({ content: ['Hello'] }), '.content[0]', 'must be an object'],
  ['a part without type', user({ content: [{ type: 'text' }, {}] }), '.content[1].type', 'is required'],
  ['a part of type 5', user({ content: [{ type: 5 }] }), '.content[0].type', 'must be a string'],
  ['many bad parts', user({ content: Array(50).fill({ type: 5 }) }), '.content[0].type', 'must be a string'],
  ['text for custom content', user({ custom_content: 'x' }), '.custom_content', 'must be an object'],
  [
    'custom content of system',
    { role: 'system', content: '', custom_content: {} },
    '.custom_content',
    'is not allowed in a system message',
  ],
  [
    'custom content of developer',
    { role: 'developer', content: '', custom_content: {} },
    '.custom_content',
    'is not allowed in a developer message',
  ],
  ['state of the user', user({ custom_content: { state: {} } }), '.custom_content.state', 'is for assistant messages only'],
  [
    'state of a function',
    { role: 'function', name: 'f', content: '', custom_content: { state: {} } },
    '.custom_content.state',
    'is for assistant messages only',
  ],
  [
    'state that is text',
    { role: 'assistant', content: '', custom_content: { state: 'x' } },
    '.custom_content.state',
    'must be an object',
  ],
  [
    'state that is a list',
    { role: 'assistant', content: '', custom_content: { state: [] } },
    '.custom_content.state',
    'must be an object',
  ],
  ['stages of the user', user({ custom_content: { stages: [] } }), '.custom_content.stages', 'is not allowed in a user message'],
  [
    'controls of the user',
    user({ custom_content: { controls: [] } }),
    '.custom_content.controls',
    'is not allowed in a user message',
  ],
  [
    'a control completed by the assistant',
    { role: 'assistant', content: '', custom_content: { completed_control: control } },
    '.custom_content.completed_control',
    'is for user messages only',
  ],
  [
    'a completed control that is text',
    user({ custom_content: { completed_control: 'Yes' } }),
    '.custom_content.completed_control',
    'must be an object',
  ],
  [
    'a completed control without label',
    user({ custom_content: { completed_control: {} } }),
    '.custom_content.completed_control.label',
    'is required',
  ],
  [
    'a label that is a number',
    user({ custom_content: { completed_control: { label: 5 } } }),
    '.custom_content.completed_control.label',
    'must be a string',
  ],
  [
    'a value that is text',
    user({ custom_content: { completed_control: { label: 'a', value: 'b' } } }),
    '.custom_content.completed_control.value',
    'must be an object',
  ],
  [
    'attachments that are an object',
    user({ custom_content: { attachments: {} } }),
    '.custom_content.attachments',
    'must be an array',
  ],
  ['an attachment that is text', withAttachments('x'), '.custom_content.attachments[0]', 'must be an object'],
  ['an empty attachment', withAttachments(picture, {}), '.custom_content.attachments[1]', 'must have data or url'],
  [
    'an attachment with data and url',
    withAttachments({ data: '', url: '' }),
    '.custom_content.attachments[0]',
    'must not have both data and url',
  ],
  [
    'an attachment with nulls',
    withAttachments({ data: null, url: null }),
    '.custom_content.attachments[0]',
    'must have data or url',
  ],
  [
    'an index that starts at 1',
    withAttachments({ ...picture, index: 1 }),
    '.custom_content.attachments[0].index',
    'must be 0: attachments are numbered from 0 in order',
  ],
  [
    'an index twice',
    withAttachments({ ...picture, index: 0 }, { ...picture, index: 0 }),
    '.custom_content.attachments[1].index',
    'must be 1: attachments are numbered from 0 in order',
  ],
  [
    'an index that is text',
    withAttachments({ ...picture, index: '0' }),
    '.custom_content.attachments[0].index',
    'must be an integer',
  ],
  ['an index below 0', withAttachments({ ...picture, index: -1 }), '.custom_content.attachments[0].index', 'must be at least 0'],
  ...['type', 'title', 'data', 'url', 'reference_type', 'reference_url'].map((field): [string, unknown, string, string] => {
    return [
      `${field} that is a number`,
      withAttachments({ url: 'a', [field]: 5 }),
      `.custom_content.attachments[0].${field}`,
      'must be a string',
    ];
  }),
  ['a name that is a number', user({ name: 5 }), '.name', 'must be a string'],
  ['an empty name', user({ name: '' }), '.name', 'must match ^[^\\s<|\\\\/>]{1,64}$'],
  ['a name with a space', user({ name: 'a b' }), '.name', 'must match ^[^\\s<|\\\\/>]{1,64}$'],
  ['a name with a slash', user({ name: 'a/b' }), '.name', 'must match ^[^\\s<|\\\\/>]{1,64}$'],
  ['a name of 65', user({ name: 'a'.repeat(65) }), '.name', 'must match ^[^\\s<|\\\\/>]{1,64}$'],
  ['a function without name', { role: 'function', content: '' }, '.name', 'is required in a function message'],
  ['a function with null name', { role: 'function', content: '', name: null }, '.name', 'is required in a function message'],
  ['a function name with a space', { role: 'function', content: '', name: 'a b' }, '.name', 'must match ^[a-zA-Z0-9_-]{1,64}$'],
  ['a function call of the user', user({ function_call: call }), '.function_call', 'is for assistant messages only'],
  ['a function call that is text', { role: 'assistant', function_call: 'f' }, '.function_call', 'must be an object'],
  ['a function call without name', { role: 'assistant', function_call: { arguments: '' } }, '.function_call.name', 'is required'],
  [
    'a function call without arguments',
    { role: 'assistant', function_call: { name: 'f' } },
    '.function_call.arguments',
    'is required',
  ],
  [
    'arguments that are an object',
    { role: 'assistant', function_call: { name: 'f', arguments: {} } },
    '.function_call.arguments',
    'must be a string',
  ],
  ['a key of other case', user({ Name: 'a' }), '.Name', 'is not a known field. The name is name'],
  [
    'tool calls of other case',
    { role: 'assistant', Tool_calls: [] },
    '.Tool_calls',
    'is not a known field. The name is tool_calls',
  ],
];

describe('parseMessage with an invalid message', () => {
  test.each(invalidCases)('rejects %s', (_name, message, path, claim) => {
    const param = at + path;
    expect(() => parseMessage(message, at)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param, message: `${param} ${claim}.` }),
    );
  });
});

describe('parseMessage with a valid message', () => {
  const good: [name: string, message: object][] = [
    ['text', user({})],
    ['empty text', user({ content: '' })],
    [
      'parts',
      user({
        content: [
          { type: 'text', text: 'a' },
          { type: 'of_tomorrow', x: {} },
        ],
      }),
    ],
    ['a name with a dash', user({ name: 'research-agent' })],
    ['a name in other letters', user({ name: 'José.Ñ@example' })],
    ['a name of 64', user({ name: 'aZ_9'.repeat(16) })],
    ['a function call and no content', { role: 'assistant', function_call: call }],
    ['a function call and null content', { role: 'assistant', content: null, function_call: call }],
    ['tool calls and no content', { role: 'assistant', tool_calls: toolCalls }],
    ['a completed control and no content', { role: 'user', custom_content: { completed_control: control } }],
    ['a completed control with a value', user({ custom_content: { completed_control: { label: '', value: { a: 1 } } } })],
    ['attachments without index', withAttachments(picture, { data: '' })],
    ['attachments in order', withAttachments({ index: 0, ...picture }, { index: 1, ...picture })],
    ['attachments and a control', user({ custom_content: { attachments: [picture], completed_control: control } })],
    [
      'state and stages of the assistant',
      { role: 'assistant', content: '', custom_content: { state: { a: [] }, stages: [{ index: 0 }] } },
    ],
    ['a function result', { role: 'function', name: 'get-weather', content: '{}' }],
    ['a tool result', { role: 'tool', name: 'any.name at all', tool_call_id: 'c', content: '{}' }],
    ['instructions of a developer', { role: 'developer', content: [{ type: 'text', text: 'a' }] }],
    ['unknown fields at every level', user({ x: 1, custom_content: { y: null, attachments: [{ ...picture, z: {} }] } })],
  ];

  test.each(good)('returns a message with %s unchanged', (_name, message) => {
    expect(parseMessage(message, at)).toBe(message);
  });
});

describe('parseMessage with null', () => {
  test('omits optional fields that are null', () => {
    const message = {
      ...{ role: 'user', content: 'a', name: null, function_call: null },
      custom_content: {
        state: null,
        completed_control: { label: 'a', value: null },
        attachments: [{ ...picture, data: null, title: null }],
      },
    };
    expect(parseMessage(message, at)).toStrictEqual({
      ...{ role: 'user', content: 'a' },
      custom_content: { completed_control: { label: 'a' }, attachments: [picture] },
    });
    expect(message.name).toBeNull();
  });

  test('accepts null for custom content of a system message', () => {
    expect(parseMessage({ role: 'system', content: 'a', custom_content: null }, at)).toStrictEqual({
      role: 'system',
      content: 'a',
    });
  });

  test('keeps null in unknown fields and as content next to tool calls', () => {
    const message = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }], refusal: null };
    expect(parseMessage(message, at)).toBe(message);
  });

  test('ignores null for tool calls, controls, and stages', () => {
    const custom_content = { controls: null, stages: null, state: null };
    const message = { role: 'assistant', content: 'a', tool_calls: null, tool_call_id: null, custom_content };
    expect(parseMessage(message, at)).toStrictEqual({ role: 'assistant', content: 'a', custom_content: {} });
  });
});

describe('parseMessage with any message', () => {
  const anything = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', null, [], {}, 5) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  const attachment = fc.record({ index: anything, data: anything, url: anything, type: anything }, { requiredKeys: [] });
  const custom = fc.record(
    { attachments: fc.oneof(fc.array(attachment), anything), completed_control: anything, state: anything, stages: anything },
    { requiredKeys: [] },
  );
  const message = fc.record(
    {
      role: fc.oneof(fc.constantFrom('system', 'user', 'assistant', 'function', 'tool'), anything),
      content: anything,
      custom_content: fc.oneof(custom, anything),
      name: anything,
      function_call: anything,
    },
    { requiredKeys: [] },
  );

  test('returns a message or throws an error with a path within it', () => {
    fc.assert(
      fc.property(message, (value) => {
        try {
          parseMessage(value, at);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ParleyError);
          expect((thrown as ParleyError).param).toMatch(/^messages\[2\]/);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
