import { describe, expect, it } from 'vitest';
import type { MessageParam } from '#contract/messages/dialect.ts';
import { toTooling } from './to-messages-request.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { type: 'function', function: { name: 'weather', description: 'Of a city', parameters } };
const time = { type: 'function', function: { name: 'time' } };
const offered = {
  weather: { name: 'weather', description: 'Of a city', input_schema: parameters },
  time: { name: 'time', input_schema: { type: 'object' } },
};

function tooling(fields: object, messages: MessageParam[] = []) {
  return toTooling({ messages: [], ...fields }, messages);
}

describe('toTooling', () => {
  it('offers functions with their schemas', () => {
    expect(tooling({ tools: [weather, time] })).toEqual({ tools: [offered.weather, offered.time] });
  });

  it('adds the required type to every schema and preserves strictness and cache marks', () => {
    const cache_control = { type: 'ephemeral' };
    const strict = { type: 'function', cache_control, function: { name: 'x', strict: true, parameters: { properties: {} } } };
    expect(tooling({ tools: [strict] }).tools).toEqual([
      { name: 'x', strict: true, input_schema: { type: 'object', properties: {} }, cache_control },
    ]);
  });

  it("passes the dialect's own tools", () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };
    expect(tooling({ tools: [search, null, 'x'] })).toEqual({ tools: [search] });
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'time' } },
      { type: 'tool', name: 'time' },
    ],
    [
      { type: 'tool', name: 'time' },
      { type: 'tool', name: 'time' },
    ],
    [undefined, undefined],
    [null, undefined],
    ['whatever', undefined],
    [{}, undefined],
  ])('converts the choice %j to %j', (tool_choice, expected) => {
    expect(tooling({ tools: [time], tool_choice }).tool_choice).toEqual(expected);
  });

  it('removes tools that are not allowed', () => {
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [time] } };
    expect(tooling({ tools: [weather, time], tool_choice })).toEqual({ tools: [offered.time], tool_choice: { type: 'any' } });
  });

  it('disables parallel calls, unless no calls are allowed', () => {
    const one = { tools: [time], parallel_tool_calls: false };
    expect(tooling(one).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(tooling({ ...one, tool_choice: 'required' }).tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(tooling({ ...one, tool_choice: 'none' }).tool_choice).toEqual({ type: 'none' });
    expect(tooling({ tools: [time], parallel_tool_calls: true }).tool_choice).toBeUndefined();
  });

  it('omits the choice if there are no tools', () => {
    for (const tools of [undefined, null, [], 'x']) expect(tooling({ tools, tool_choice: 'required' })).toEqual({});
  });

  it('offers the tools of earlier calls if no more calls are allowed', () => {
    const use = (name: string) => ({ type: 'tool_use', id: name, name, input: {} });
    const messages: MessageParam[] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [use('time'), use('weather'), use('time')] },
    ];
    expect(tooling({ tool_choice: 'auto' }, messages)).toEqual({
      tools: [
        { name: 'time', input_schema: { type: 'object' } },
        { name: 'weather', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'none' },
    });
  });
});
