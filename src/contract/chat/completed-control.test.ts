import { describe, expect, test } from 'vitest';
import { checkCompletedControl, type OfferedControl } from './completed-control.ts';
import type { CompletedControl, Message } from './message.ts';

const booking = {
  type: 'object',
  properties: { seats: { type: 'integer', minimum: 1 }, day: { type: 'string', format: 'date' } },
  required: ['seats'],
};
const controls: OfferedControl[] = [{ label: 'Book', schema: booking }, { label: 'Cancel' }];

function offering(parley_controls: unknown): Message {
  return { role: 'assistant', content: 'Shall I?', custom_content: { state: { parley_controls } } };
}

function completing(completed_control: CompletedControl): Message {
  return { role: 'user', custom_content: { completed_control } };
}

/** A schema whose validation takes 2^40 steps. */
const doubling = {
  $ref: '#/$defs/0',
  $defs: Object.fromEntries(Array.from({ length: 41 }, (_, depth) => [depth, depth < 40 ? twice(depth + 1) : {}])),
};

function twice(depth: number): object {
  return { allOf: [{ $ref: `#/$defs/${depth}` }, { $ref: `#/$defs/${depth}` }] };
}

const hello: Message = { role: 'user', content: 'Hello' };

function check(completed: CompletedControl, offered: Message = offering(controls)): () => void {
  return () => checkCompletedControl([hello, offered, completing(completed)]);
}

function refusal(field: string, message: unknown): unknown {
  const param = `messages[2].custom_content.completed_control.${field}`;
  return expect.objectContaining({ code: 'control_not_offered', status: 400, param, message });
}

const containing = (text: string) => expect.stringContaining(text);

describe('checkCompletedControl with a control of the last reply', () => {
  test.each<CompletedControl>([
    { label: 'Cancel' },
    { label: 'Cancel', value: { anything: 1 } },
    { label: 'Book', value: { seats: 2 } },
    { label: 'Book', value: { seats: 2, day: '2026-02-28', more: true } },
  ])('accepts %j', (completed) => {
    expect(check(completed)).not.toThrow();
  });

  test.each<[CompletedControl, string]>([
    [{ label: 'Book' }, "value must have required property 'seats'"],
    [{ label: 'Book', value: {} }, "value must have required property 'seats'"],
    [{ label: 'Book', value: { seats: '2' } }, 'value/seats must be integer'],
    [{ label: 'Book', value: { seats: 0 } }, 'value/seats must be >= 1'],
    [{ label: 'Book', value: { seats: 1, day: '2026-02-30' } }, 'value/day must match format "date"'],
  ])('rejects %j', (completed, error) => {
    expect(check(completed)).toThrow(refusal('value', containing(`does not follow the schema of the control: ${error}`)));
  });
});

describe('checkCompletedControl with another control', () => {
  test.each(['Pay', 'book', ''])('rejects the label %j', (label) => {
    expect(check({ label })).toThrow(refusal('label', containing('is not the label of a control of the last reply')));
  });

  test('rejects a control of an earlier reply', () => {
    const messages = [hello, offering(controls), hello, offering([]), completing({ label: 'Cancel' })];
    expect(() => checkCompletedControl(messages)).toThrow(expect.objectContaining({ code: 'control_not_offered' }));
  });
});

describe('checkCompletedControl without controls in the last reply', () => {
  test.each<[string, Message[]]>([
    ['no reply', []],
    ['a reply without custom content', [{ role: 'assistant', content: 'a' }]],
    ['a reply with another state', [{ role: 'assistant', content: 'a', custom_content: { state: { a: 1 } } }]],
    ['a record that is not a list', [offering({})]],
    ['a record of an earlier reply', [offering(controls), { role: 'assistant', content: 'a' }]],
  ])('rejects the control after %s', (_name, before) => {
    const messages = [...before, completing({ label: 'Cancel' })];
    expect(() => checkCompletedControl(messages)).toThrow(expect.objectContaining({ code: 'control_not_offered' }));
  });
});

describe('checkCompletedControl without a completed control in the last message', () => {
  test.each<[string, Message[]]>([
    ['no messages', []],
    ['a plain message', [offering(controls), hello]],
    ['a message after a completed control', [offering(controls), completing({ label: 'Pay' }), hello]],
    [
      'a message of the assistant',
      [{ role: 'assistant', content: 'a', custom_content: { completed_control: { label: 'Pay' } } }],
    ],
  ])('accepts %s', (_name, messages) => {
    expect(() => checkCompletedControl(messages)).not.toThrow();
  });
});

describe('checkCompletedControl with a difficult schema', () => {
  test.each<[string, object]>([
    ['an unknown type', { type: 'nonsense' }],
    ['a reference to another document', { $ref: 'https://a.example/schema' }],
    ['an endless reference', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }],
    ['an asynchronous schema', { $async: true }],
    ['a schema that is too large', { description: 'x'.repeat(70_000) }],
    ['a pattern with lookahead', { properties: { a: { pattern: '^(?=a)' } } }],
  ])('rejects %s', (_name, schema) => {
    const value = { a: `${'a'.repeat(40)}!` };
    expect(check({ label: 'L', value }, offering([{ label: 'L', schema }]))).toThrow(
      refusal('value', containing('the schema cannot be used')),
    );
  });

  test('reports that a schema with doubling references takes too long', () => {
    expect(check({ label: 'L', value: {} }, offering([{ label: 'L', schema: doubling }]))).toThrow(
      refusal('value', containing('the check against the schema takes too long')),
    );
  });

  test('matches a pattern without backtracking', () => {
    const offered = offering([{ label: 'L', schema: { properties: { a: { pattern: '^(a+)+$' } } } }]);
    expect(check({ label: 'L', value: { a: `${'a'.repeat(40)}!` } }, offered)).toThrow(
      refusal('value', containing('must match pattern')),
    );
  });

  test.each<[string, object]>([
    ['a simple pattern', { properties: { a: { pattern: '^[a-z]+$' } } }],
    ['a declared dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }],
    ['unknown keywords', { type: 'object', 'x-widget': 'slider' }],
  ])('accepts %s', (_name, schema) => {
    expect(check({ label: 'L', value: { a: 'abc' } }, offering([{ label: 'L', schema }]))).not.toThrow();
  });

  test('ignores records that are not controls', () => {
    const offered = offering([null, 5, { label: 5 }, { label: 'L', schema: 'x' }, { label: 'Good' }]);
    expect(check({ label: 'L' }, offered)).toThrow(refusal('label', containing('is not the label')));
    expect(check({ label: 'Good' }, offered)).not.toThrow();
  });

  test('rejects a value that is too large', () => {
    expect(check({ label: 'Book', value: { seats: 1, note: 'x'.repeat(300_000) } })).toThrow(
      refusal('value', containing('it is too large')),
    );
  });
});
