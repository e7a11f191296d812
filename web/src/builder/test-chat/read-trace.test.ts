import { describe, expect, it } from 'vitest';
import { computeTotalMs, formatJson, readTrace, toSpan } from './read-trace.ts';

const sent = JSON.stringify({
  messages_before: 1,
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
    { role: 'user', content: [{ type: 'text', text: 'x' }] },
  ],
  tools: [{ type: 'function', function: { name: 'find' } }],
  temperature: 0.5,
});
const usage_per_model = [
  { prompt_tokens: 10, completion_tokens: 2 },
  { prompt_tokens: 1, completion_tokens: 1 },
];
const turn = {
  index: 0,
  kind: 'model',
  turn: 1,
  name: 'm',
  at_ms: 1,
  duration_ms: 20,
  first_ms: 5,
  sent,
  received: '{"content":"Hi"}',
};

describe('readTrace', () => {
  it('reads model requests and usage', () => {
    const [step] = readTrace({ trace: [{ ...turn, usage_per_model, cost_usd: 0.03 }] });
    expect(step).toMatchObject({
      ...{ index: 0, kind: 'model', turn: 1, name: 'm', atMs: 1, durationMs: 20, firstMs: 5, hasFailed: false, usd: 0.03 },
      ...{ promptTokens: 11, completionTokens: 3, received: 'Hi' },
    });
    expect(step?.request).toEqual({
      messagesBefore: 1,
      messages: [
        { role: 'user', text: 'Hello' },
        { role: 'assistant', text: expect.stringMatching(/^\{\n {2}"tool_calls"/) },
        { role: 'user', text: expect.stringContaining('"text": "x"') },
      ],
      tools: ['find'],
      settings: '{\n  "temperature": 0.5\n}',
    });
  });

  it('reads failures', () => {
    const tool = { ...turn, kind: 'tool' };
    const steps = readTrace({ trace: [{ ...tool, received: '{"failed":true}' }, { ...turn, error: 'Broke.' }, tool] });
    expect(steps.map(({ hasFailed, error }) => [hasFailed, error])).toEqual([
      [true, undefined],
      [true, 'Broke.'],
      [false, undefined],
    ]);
  });

  it('reads context reductions with the sizes before and after', () => {
    const reduction = { ...turn, kind: 'context', name: 'clear', sent: '{"tokens":9}', received: '{"tokens":3}' };
    expect(readTrace({ trace: [reduction] })).toMatchObject([{ kind: 'context', received: '{\n  "tokens": 3\n}' }]);
  });

  it('reads unavailable toolsets with the reason', () => {
    const missing = { ...turn, kind: 'toolset', name: 'Files', turn: 0, sent: '', received: '', error: 'No response.' };
    expect(readTrace({ trace: [missing] })).toMatchObject([
      { kind: 'toolset', name: 'Files', hasFailed: true, error: 'No response.' },
    ]);
  });

  it('formats results for display', () => {
    const receive = (kind: string, received: unknown) =>
      readTrace({ trace: [{ ...turn, kind, received: typeof received === 'string' ? received : JSON.stringify(received) }] })[0]
        ?.received;
    expect(receive('model', { content: 'Hi', finish_reason: 'stop' })).toBe('Hi\n\n{\n  "finish_reason": "stop"\n}');
    expect(receive('tool', { text: '{"a":1}', failed: false })).toBe('{\n  "a": 1\n}');
    expect(receive('tool', { text: 'plain', failed: true })).toBe('plain');
    expect(receive('tool', { question: 'Which one?' })).toBe('Which one?');
    expect(receive('tool', '{"text":"cut… [5 more characters]')).toBe('{"text":"cut… [5 more characters]');
  });

  it.each([undefined, null, 1, [], { trace: 'x' }, { trace: [null, 'x', 1, []] }])('returns no steps for %j', (custom) => {
    expect(readTrace(custom)).toEqual([]);
  });

  it('validates every field', () => {
    const [step] = readTrace({
      trace: [{ kind: 5, turn: 'x', sent: '{"messages":[1,{"role":{}}],"tools":[1,{}]', usage_per_model: [null] }],
    });
    expect(step).toMatchObject({ kind: 'tool', turn: 0, name: '', sent: expect.any(String), received: '', promptTokens: 0 });
    const [invalidItems] = readTrace({ trace: [{ sent: '{"messages":[1,{"role":{}}],"tools":[1,{}]}' }] });
    expect(invalidItems?.request).toMatchObject({ messages: [{ role: '', text: '' }], tools: [''] });
  });
});

it('formatJson indents JSON texts', () => {
  expect([formatJson('{"a":1}'), formatJson('{"a":1… [5 more characters]')]).toEqual([
    '{\n  "a": 1\n}',
    '{"a":1… [5 more characters]',
  ]);
});

const model = { atMs: 0, durationMs: 400, firstMs: 100 };
const tool = { atMs: 400, durationMs: 600, firstMs: undefined };

it('computes the position of a step within the run and the time until its answer started', () => {
  expect(computeTotalMs([model, tool])).toBe(1000);
  expect(toSpan(model, 1000)).toEqual({ from: 0, length: 40, waiting: 25 });
  expect(toSpan(tool, 1000)).toEqual({ from: 40, length: 60, waiting: 0 });
});

it('clamps impossible times to the run', () => {
  expect(computeTotalMs([])).toBe(0);
  expect(toSpan({ atMs: 0, durationMs: 0, firstMs: 5 }, 0)).toEqual({ from: 0, length: 0, waiting: 0 });
  expect(toSpan({ atMs: 900, durationMs: 5000, firstMs: -1 }, 1000)).toEqual({ from: 90, length: 10, waiting: 0 });
  expect(toSpan({ atMs: -5, durationMs: -5, firstMs: undefined }, 1000)).toEqual({ from: 0, length: 0, waiting: 0 });
});
