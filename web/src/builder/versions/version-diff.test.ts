import { describe, expect, it } from 'vitest';
import { compareLines, listChanges } from './version-diff.tsx';

const format = (text: string, otherText: string) =>
  compareLines(text, otherText).map((line) =>
    line.kind === 'omitted' ? `${line.count} omitted` : `${line.kind === 'changed' ? '*' : ' '}${line.text}`,
  );

describe('compareLines', () => {
  it.each<[string, string, string[], string[]]>([
    ['a', 'b', ['*a'], ['*b']],
    ['a\nb\nc', 'a\nx\nc', [' a', '*b', ' c'], [' a', '*x', ' c']],
    ['a\nb', 'a\nb\nc', [' a', ' b'], [' a', ' b', '*c']],
    ['b\nc', 'a\nb\nc', [' b', ' c'], ['*a', ' b', ' c']],
    ['a\nb\nc\nd', 'b\nd\ne', ['*a', ' b', '*c', ' d'], [' b', ' d', '*e']],
    ['a\na', 'a', [' a', '*a'], [' a']],
    ['a\nb\nc', 'b\na\nc', ['*a', '*b', ' c'], ['*b', '*a', ' c']],
  ])('marks the lines of %j and %j that the other text lacks', (before, after, oldLines, newLines) => {
    expect([format(before, after), format(after, before)]).toEqual([oldLines, newLines]);
  });

  it('omits unchanged lines that are not near a change', () => {
    const lines = Array.from({ length: 9 }, (_, index) => `${index}`);
    expect(format(['x', ...lines].join('\n'), ['y', ...lines].join('\n'))).toEqual(['*x', ' 0', ' 1', ' 2', '6 omitted']);
  });

  it('compares very long texts', () => {
    const text = (mark: string) => Array.from({ length: 100_000 }, (_, index) => `${mark}${index}`).join('\n');
    expect(compareLines(`head\n${text('a')}\ntail`, `head\n${text('b')}\ntail`)).toHaveLength(100_002);
  });
});

describe('listChanges', () => {
  const group = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
  const text = (title: string) => ({ type: 'string', title });
  const server = group({ name: text('Name'), info: { ...group({ url: text('Address') }), title: 'Server' } });
  const key = { ...group({ type: { const: 'key' }, key: text('Key') }), description: 'A key.' };
  const token = { ...group({ type: { const: 'token' }, token: text('Token') }), description: 'A token.' };
  const schema = group({
    name: text('Name'),
    servers: { type: 'array', title: 'Servers', items: { anyOf: [server, { type: 'null' }] } },
    signIn: { title: 'Sign-in', anyOf: [key, token, { type: 'null' }] },
  });
  const list = (before: unknown, after: unknown) =>
    listChanges(before, after, { schema, name: '', labels: [] }, (part, name) => String(part.title ?? name)).map(
      ({ labels, before: oldValue, after: newValue }) => [labels.join(' › '), oldValue, newValue],
    );

  it('finds no difference between equal applications', () => {
    expect(list({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
  });

  it('labels and orders settings as the form does', () => {
    const before = { servers: [{ name: 'Board', info: { url: 'a' } }], other: 1, name: 'One' };
    const after = { servers: [{ name: 'Board', info: { url: 'b' } }], name: 'Two', signIn: { type: 'key', key: 'x' } };
    expect(list(before, after)).toEqual([
      ['Name', 'One', 'Two'],
      ['Servers › Board › Address', 'a', 'b'],
      ['Sign-in', undefined, { type: 'key', key: 'x' }],
      ['other', 1, undefined],
    ]);
  });

  it('treats a change to another variant as one change', () => {
    const [before, after] = [
      { type: 'key', key: 'x' },
      { type: 'token', token: 'x' },
    ];
    expect(list({ signIn: before }, { signIn: after })).toEqual([['Sign-in', before, after]]);
    expect(list({ signIn: before }, { signIn: { ...before, key: 'y' } })).toEqual([['Sign-in › Key', 'x', 'y']]);
  });

  it('matches items by unique names, or else by position', () => {
    const [shop, board] = [{ name: 'Shop', info: { url: 'a' } }, { name: 'Board' }];
    expect(list({ servers: [shop, board] }, { servers: [board, { ...shop, info: { url: 'c' } }] })).toEqual([
      ['Servers › Shop › Address', 'a', 'c'],
    ]);
    expect(list({ servers: [shop] }, { servers: [shop, shop] })).toEqual([['Servers › 2', undefined, shop]]);
    const tool = (name: string, description: string) => ({ open_ai_tool: { function: { name, description } } });
    expect(list({ tools: [tool('find', 'x')] }, { tools: [tool('add', 'y'), tool('find', 'z')] })).toEqual([
      ['tools › find › open_ai_tool › function › description', 'x', 'z'],
      ['tools › add', undefined, tool('add', 'y')],
    ]);
  });

  it('accepts any key names', () => {
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}') as object;
    expect(list({}, hostile).map(([label]) => label)).toEqual(['__proto__', 'constructor']);
  });
});
