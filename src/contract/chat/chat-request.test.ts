import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, test } from 'vitest';
import { ParleyError } from '../errors/errors.ts';
import { parseChatRequest } from './chat-request.ts';

const hello = { role: 'user', content: 'Hello' };
const offer = { name: 'weather', description: 'Tells the weather.', parameters: { type: 'object' } };

function parse(fields: object): unknown {
  return parseChatRequest({ messages: [hello], ...fields });
}

function refusal(param: string | null, message: string): unknown {
  return expect.objectContaining({ code: 'invalid_request', status: 400, param, message });
}

const aString = 'must be a string';
const aNumber = 'must be a number';
const anInteger = 'must be an integer';
const aBoolean = 'must be a boolean';
const anArray = 'must be an array';
const aStop = 'must be a string, null or an array';
const aChoice = 'must be "none", "auto" or an object';
const aBias = 'must be null or an object';
const aName = 'must match ^[a-zA-Z0-9_-]{1,64}$';

const invalidCases: [field: string, value: unknown, param: string, claim: string][] = [
  ['model', 5, 'model', aString],
  ['messages', 'Hello', 'messages', anArray],
  ['messages', null, 'messages', anArray],
  ['messages', [], 'messages', 'must have at least 1 item'],
  ['messages', [hello, 'Hello'], 'messages[1]', 'must be an object'],
  ['functions', {}, 'functions', anArray],
  ['functions', ['weather'], 'functions[0]', 'must be an object'],
  ['functions', [{}], 'functions[0].name', 'is required'],
  ['functions', [{ name: 5 }], 'functions[0].name', aString],
  ['functions', [{ name: '' }], 'functions[0].name', aName],
  ['functions', [offer, { name: 'two words' }], 'functions[1].name', aName],
  ['functions', [{ name: 'naïve' }], 'functions[0].name', aName],
  ['functions', [{ name: 'line\n' }], 'functions[0].name', aName],
  ['functions', [{ name: 'f'.repeat(65) }], 'functions[0].name', aName],
  ['functions', [{ name: 'f', description: 5 }], 'functions[0].description', aString],
  ['functions', [{ name: 'f', parameters: '{}' }], 'functions[0].parameters', 'must be an object'],
  ['functions', [{ name: 'f', parameters: [] }], 'functions[0].parameters', 'must be an object'],
  ['function_call', 5, 'function_call', aChoice],
  ['function_call', 'required', 'function_call', aChoice],
  ['function_call', {}, 'function_call.name', 'is required'],
  ['function_call', { name: 5 }, 'function_call.name', aString],
  ['function_call', { name: 'f' }, 'function_call.name', 'must be the name of one of the functions of the request'],
  ['addons', {}, 'addons', anArray],
  ['addons', ['search'], 'addons[0]', 'must be an object'],
  ['addons', [{}], 'addons[0]', 'must have name or url'],
  ['addons', [{ name: 'a' }, { name: 'a', url: 'https://a' }], 'addons[1]', 'must not have both name and url'],
  ['addons', [{ name: 5 }], 'addons[0].name', aString],
  ['addons', [{ url: 5 }], 'addons[0].url', aString],
  ['stream', 'true', 'stream', aBoolean],
  ['stream', 1, 'stream', aBoolean],
  ['temperature', '1', 'temperature', aNumber],
  ['temperature', -0.01, 'temperature', 'must be at least 0'],
  ['temperature', 2.01, 'temperature', 'must be at most 2'],
  ['top_p', '1', 'top_p', aNumber],
  ['top_p', -0.01, 'top_p', 'must be at least 0'],
  ['top_p', 1.01, 'top_p', 'must be at most 1'],
  ['n', '1', 'n', anInteger],
  ['n', 1.5, 'n', anInteger],
  ['n', 0, 'n', 'must be at least 1'],
  ['n', 129, 'n', 'must be at most 128'],
  ['stop', 5, 'stop', aStop],
  ['stop', {}, 'stop', aStop],
  ['stop', [], 'stop', 'must have at least 1 item'],
  ['stop', ['a', 'b', 'c', 'd', 'e'], 'stop', 'must have at most 4 items'],
  ['stop', ['a', 5], 'stop[1]', aString],
  ['max_tokens', '5', 'max_tokens', anInteger],
  ['max_tokens', 1.5, 'max_tokens', anInteger],
  ['max_tokens', 0, 'max_tokens', 'must be at least 1'],
  ['max_tokens', Number.POSITIVE_INFINITY, 'max_tokens', anInteger],
  ['presence_penalty', '1', 'presence_penalty', aNumber],
  ['presence_penalty', -2.01, 'presence_penalty', 'must be at least -2'],
  ['presence_penalty', 2.01, 'presence_penalty', 'must be at most 2'],
  ['frequency_penalty', '1', 'frequency_penalty', aNumber],
  ['frequency_penalty', -2.01, 'frequency_penalty', 'must be at least -2'],
  ['frequency_penalty', 2.01, 'frequency_penalty', 'must be at most 2'],
  ['logit_bias', 5, 'logit_bias', aBias],
  ['logit_bias', [1], 'logit_bias', aBias],
  ['logit_bias', { 50256: '1' }, 'logit_bias.50256', aNumber],
  ['logit_bias', { 50256: -100.1 }, 'logit_bias.50256', 'must be at least -100'],
  ['logit_bias', { 1: 0, 50256: 100.1 }, 'logit_bias.50256', 'must be at most 100'],
  ['user', 5, 'user', aString],
  ['Temperature', 1, 'Temperature', 'is not a known field. The name is temperature'],
  ['maX_tokens', 1, 'maX_tokens', 'is not a known field. The name is max_tokens'],
  ['ſtream', true, 'ſtream', 'is not a known field. The name is stream'],
  ['TOOLS', [], 'TOOLS', 'is not a known field. The name is tools'],
];

describe('parseChatRequest with an invalid field', () => {
  test.each(invalidCases)('reports the path of %s: %j', (field, value, param, claim) => {
    expect(() => parse({ [field]: value })).toThrow(refusal(param, `${param} ${claim}.`));
  });

  test.each([5, 'text', null, [], true])('rejects the body %j', (body) => {
    expect(() => parseChatRequest(body)).toThrow(refusal(null, 'The body must be an object.'));
  });

  test('rejects a body without messages', () => {
    expect(() => parseChatRequest({})).toThrow(refusal('messages', 'messages is required.'));
  });

  test('truncates long keys in the message', () => {
    expect(() => parse({ logit_bias: { ['9'.repeat(1000)]: 101 } })).toThrow(
      expect.objectContaining({ param: `logit_bias.${'9'.repeat(64)}…` }),
    );
  });

  test('reports the first error in the order of the fields', () => {
    const messages = [hello, { role: 'user' }, { role: 'nobody' }];
    expect(() => parse({ temperature: 3, messages })).toThrow(expect.objectContaining({ param: 'messages[1].content' }));
    expect(() => parse({ user: 5, n: 0 })).toThrow(expect.objectContaining({ param: 'n' }));
  });
});

describe('parseChatRequest with valid fields', () => {
  const good: [field: string, value: unknown][] = [
    ...[0, 0.5, 1, 2].map((value): [string, unknown] => ['temperature', value]),
    ...[0, 0.5, 1].map((value): [string, unknown] => ['top_p', value]),
    ...[1, 128].map((value): [string, unknown] => ['n', value]),
    ...['END', ['a'], ['a', 'b', 'c', 'd'], ''].map((value): [string, unknown] => ['stop', value]),
    ...[1, 10_000_000].map((value): [string, unknown] => ['max_tokens', value]),
    ...[-2, 0, 2].map((value): [string, unknown] => ['presence_penalty', value]),
    ...[-2, 0, 2].map((value): [string, unknown] => ['frequency_penalty', value]),
    ...[{}, { 50256: -100, 1: 100 }].map((value): [string, unknown] => ['logit_bias', value]),
    ...[true, false].map((value): [string, unknown] => ['stream', value]),
    ...[[], [{ name: 'search' }], [{ url: 'https://a.example/plugin.json' }]].map((value): [string, unknown] => [
      'addons',
      value,
    ]),
    ...[[offer], [{ name: 'a-B_9'.padEnd(64, 'x') }]].map((value): [string, unknown] => ['functions', value]),
    ...['none', 'auto'].map((value): [string, unknown] => ['function_call', value]),
    ['model', 'gpt'],
    ['user', 'u1'],
    ['max_completion_tokens', 'anything'],
    ['tools', [{ type: 'function' }]],
    ['tool_choice', 'required'],
    ['response_format', { type: 'json_object' }],
    ['seed', -1],
    ['stream_options', { include_obfuscation: null }],
    ['Unknown', { a: [null] }],
  ];

  test.each(good)('returns %s unchanged: %j', (field, value) => {
    expect(parse({ [field]: value })).toEqual({ messages: [hello], [field]: value });
  });

  test('accepts function_call with a function of the request', () => {
    const request = { messages: [hello], functions: [offer], function_call: { name: 'weather' } };
    expect(parseChatRequest(request)).toEqual(request);
  });

  test('keeps the order of keys', () => {
    const request = { x: 1, messages: [hello], model: 'm' };
    expect(Object.keys(parseChatRequest(request))).toEqual(['x', 'messages', 'model']);
  });
});

describe('parseChatRequest with null', () => {
  test.each([
    ...['model', 'functions', 'function_call', 'addons', 'stream', 'temperature', 'top_p', 'n', 'stop', 'max_tokens'],
    ...['presence_penalty', 'frequency_penalty', 'logit_bias', 'user', 'tools', 'tool_choice', 'parallel_tool_calls'],
    ...['response_format', 'seed', 'stream_options', 'max_completion_tokens', 'reasoning_effort', 'metadata', 'store'],
  ])('omits %s if it is null', (field) => {
    const request = { messages: [hello], [field]: null };
    expect(parseChatRequest(request)).toStrictEqual({ messages: [hello] });
    expect(request).toHaveProperty(field, null);
  });

  test('omits null fields in tools, functions, and addons', () => {
    const offered = { name: 'f', description: null, parameters: null, other: null };
    const tools = [{ type: 'function', function: { ...offered, strict: null } }, 'odd'];
    expect(parse({ tools })).toEqual({
      messages: [hello],
      tools: [{ type: 'function', function: { name: 'f', other: null } }, 'odd'],
    });
    expect(parse({ functions: [offered] })).toEqual({ messages: [hello], functions: [{ name: 'f', other: null }] });
    expect(parse({ addons: [{ name: 'a', url: null }] })).toEqual({ messages: [hello], addons: [{ name: 'a' }] });
  });

  test('keeps null in unknown fields', () => {
    expect(parse({ unheard_of: null })).toEqual({ messages: [hello], unheard_of: null });
  });
});

describe('parseChatRequest with functions and tools', () => {
  test.each(['functions', 'function_call'])('rejects %s together with tools', (field) => {
    const value = field === 'functions' ? [offer] : 'auto';
    const claim = 'cannot be combined with tools. Use only tools and tool_choice';
    expect(() => parse({ tools: [{ type: 'function' }], [field]: value })).toThrow(refusal(field, `${field} ${claim}.`));
  });

  test.each([null, []])('accepts one of them if the other is %j', (none) => {
    const tools = [{ type: 'function', function: offer }];
    expect(parse({ tools: none, functions: [offer] })).toEqual({ messages: [hello], functions: [offer] });
    expect(parse({ tools, functions: none, function_call: null })).toEqual({ messages: [hello], tools });
    expect(parse({ tools: none, functions: none })).toEqual({ messages: [hello] });
  });

  test('omits an empty list and the choice that belongs to it', () => {
    expect(parse({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })).toEqual({ messages: [hello] });
    expect(parse({ functions: [], function_call: 'none' })).toEqual({ messages: [hello] });
    expect(parse({ tools: [], tool_choice: 'required' })).toEqual({ messages: [hello], tool_choice: 'required' });
  });
});

describe('parseChatRequest with any JSON', () => {
  const fields = invalidCases.map(([field]) => field);
  const body = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...fields), fc.jsonValue()),
    fc.record({ messages: fc.array(fc.oneof(fc.constant(hello), fc.jsonValue())), temperature: fc.jsonValue() }),
  );

  test('returns a request or throws a ParleyError', () => {
    fc.assert(
      fc.property(body, (value) => {
        const before = JSON.stringify(value);
        try {
          parseChatRequest(value);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ParleyError);
          expect(thrown).toHaveProperty('code', 'invalid_request');
        }
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});
