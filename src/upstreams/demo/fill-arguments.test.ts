import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { fillArguments } from './fill-arguments.ts';

const text = { type: 'string' };
const number = { type: 'number' };

function schema(properties: object, required = Object.keys(properties)) {
  return { type: 'object', properties, required };
}

const weather = schema({ location: text, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } }, ['location']);

describe('fillArguments', () => {
  it('reads a schema with many properties in linear time', async () => {
    const createNames = (prefix: string): string[] => Array.from({ length: 60_000 }, (_, nth) => `${prefix}${nth}`);
    const properties = Object.fromEntries(createNames('optional').map((name) => [name, text]));
    const fill = (): unknown => fillArguments(schema(properties, createNames('required')), 'hello');
    expect(await measureEventLoopBlock(fill)).toBeLessThan(2_000);
  });

  it.each([
    ['fills a name', 'What is the weather in Paris?', weather, { location: 'Paris' }],
    ['fills a name with several words', 'Weather in New York today?', weather, { location: 'New York' }],
    [
      'fills the trailing phrase and an option that the question mentions',
      'weather in new york today in fahrenheit',
      weather,
      { location: 'new york', unit: 'fahrenheit' },
    ],
    ['fills numbers in their order', 'What is 2 plus -3.5?', schema({ a: number, b: number }), { a: 2, b: -3.5 }],
    ['rounds a number for an integer', 'Wait 2.6 seconds', schema({ seconds: { type: 'integer' } }), { seconds: 3 }],
    [
      'fills an email address and a message',
      'Send an email to anna@example.com that I am late',
      schema({ to: text, body: text }),
      { to: 'anna@example.com', body: 'I am late' },
    ],
    [
      'fills the origin and the destination',
      'Book a flight from Rome to New York on 2026-12-01',
      schema({ from: text, to: text, date: { type: 'string', format: 'date' } }),
      { from: 'Rome', to: 'New York', date: '2026-12-01' },
    ],
    [
      'fills an amount and its units',
      'How much is 100 euro in dollars?',
      schema({ amount: number, from: text, to: text }),
      { amount: 100, from: 'euro', to: 'dollars' },
    ],
    [
      'fills quoted text',
      'Translate "good morning" into French',
      schema({ text, target_language: text }),
      { text: 'good morning', target_language: 'French' },
    ],
    ['fills a code', 'show me the order with id A-42', schema({ order_id: text }), { order_id: 'A-42' }],
    ['fills a link', 'Fetch https://example.com/a?b=c please', schema({ url: text }), { url: 'https://example.com/a?b=c' }],
    [
      'fills the complete question',
      'Which rules hold for guests?',
      schema({ query: text }),
      { query: 'Which rules hold for guests?' },
    ],
    ['fills the text after a command', 'echo hello world', schema({ message: text }), { message: 'hello world' }],
    ['fills a boolean', 'Notify without sound', schema({ sound: { type: 'boolean' } }), { sound: false }],
    [
      'fills a list of options',
      'pets that are sold or pending',
      schema({ status: { type: 'array', items: { enum: ['sold', 'pending', 'new'] } } }),
      { status: ['sold', 'pending'] },
    ],
    [
      'fills a list of numbers',
      'The mean of 1, 2 and 3',
      schema({ values: { type: 'array', items: number } }),
      { values: [1, 2, 3] },
    ],
    ['fills nested objects', 'Move to 3 and 4', schema({ point: schema({ x: number, y: number }) }), { point: { x: 3, y: 4 } }],
    [
      'uses the first type that is not null',
      'Paris',
      schema({ city: { anyOf: [{ type: 'null' }, text] }, n: { type: ['null', 'integer'], default: 7 } }),
      { city: 'Paris', n: 7 },
    ],
    ['fills constants', 'anything', schema({ kind: { const: 'x' } }), { kind: 'x' }],
    ['omits optional values that the question does not mention', 'hello', schema({ limit: number }, []), {}],
    ['fills optional values that the question mentions', 'pets with limit 5', schema({ limit: number }, []), { limit: 5 }],
    ['returns an empty object without a schema', 'hello', {}, {}],
  ])('%s', (_, question, parameters, expected) => {
    expect(fillArguments(parameters, question)).toEqual(expected);
  });

  it('accepts any question and any schema', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.dictionary(fc.string(), fc.jsonValue()), (question, properties) => {
        expect(() => JSON.stringify(fillArguments(schema(properties), question))).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
});
