import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { checkSchemas } from '#contract/evaluation/evaluation-case.ts';
import { checkTypes, isDraftable, listFields, toCaseEntry, toDraft } from './case-draft.ts';

const completeCase: JsonObject = {
  name: 'Weather',
  input: 'What is the weather in Oslo?',
  checks: [
    { type: 'contains', text: 'Oslo', ignoreCase: true },
    { type: 'contains', text: ' rain ' },
    { type: 'equals', text: '' },
    { type: 'matches', pattern: '\\d+ °C' },
    { type: 'json_schema', schema: { type: 'object' } },
    { type: 'calls', tool: 'get_weather', arguments: { city: 'Oslo' } },
    { type: 'calls', tool: 'get_time' },
    { type: 'does_not_call', tool: 'buy' },
    { type: 'judged', deployment: 'gpt', rubric: 'It is polite.' },
    { type: 'cost_at_most', usd: 0.02 },
    { type: 'time_at_most', seconds: 20 },
  ],
};

describe('case drafts', () => {
  it('preserve a case with checks of every type', () => {
    expect(toCaseEntry(toDraft(completeCase))).toEqual({ entry: completeCase });
  });

  it('offer each check type with its fields', () => {
    const expected = Object.entries(checkSchemas).map(([type, { properties }]) => [
      type,
      Object.keys(properties).filter((key) => key !== 'type'),
    ]);
    const offered = checkTypes.map((type) => [type, listFields(type).map(([name]) => name)]);
    expect(Object.fromEntries(offered)).toEqual(Object.fromEntries(expected));
  });

  it('keep the messages of a conversation unchanged', () => {
    const entry = { input: [{ role: 'user', content: 'Hello' }], checks: [] };
    expect(toDraft(entry).question).toBeUndefined();
    expect(toCaseEntry(toDraft(entry))).toEqual({ entry });
  });

  it('reject a case that they would not preserve', () => {
    const draftable = [{ input: 'a', checks: [{ type: 'contains', text: 'b' }] }, { input: 'a' }];
    const undraftable = [
      { input: 'a', other: 1 },
      { input: 'a', checks: [{ type: 'smells' }] },
      { input: 'a', checks: [{ type: 'contains', text: 'b', tool: 'c' }] },
      { input: 'a', checks: [1] },
      { input: 'a', checks: {} },
    ];
    expect([draftable.map(isDraftable), undraftable.map(isDraftable)]).toEqual([
      [true, true],
      [false, false, false, false, false],
    ]);
  });

  it('accept a decimal comma and omit a blank name', () => {
    const checks = [{ type: 'cost_at_most' as const, values: { usd: '0,5' } }];
    expect(toCaseEntry({ name: '  ', question: 'Hi', messages: [], checks })).toEqual({
      entry: { input: 'Hi', checks: [{ type: 'cost_at_most', usd: 0.5 }] },
    });
  });

  it('report missing and invalid fields', () => {
    const checks = [
      { type: 'contains' as const, values: {} },
      { type: 'calls' as const, values: { tool: 'a', arguments: '{' } },
      { type: 'json_schema' as const, values: { schema: '[]' } },
      { type: 'time_at_most' as const, values: { seconds: '-1' } },
    ];
    expect(toCaseEntry({ name: '', question: ' ', messages: [], checks })).toEqual({
      errors: [
        { check: null, field: 'input', kind: 'missing' },
        { check: 0, field: 'text', kind: 'missing' },
        { check: 1, field: 'arguments', kind: 'notObject' },
        { check: 2, field: 'schema', kind: 'notObject' },
        { check: 3, field: 'seconds', kind: 'notNumber' },
      ],
    });
  });
});
