import { describe, expect, it } from 'vitest';
import { diffEntries, diffLines } from './version-diff.tsx';

const marks = { same: ' ', removed: '-', added: '+' };
const format = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => marks[kind] + text);

describe('diffLines', () => {
  it.each<[string, string, string[]]>([
    ['a', 'a', [' a']],
    ['', 'a', ['-', '+a']],
    ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['a\nb', 'a\nb\nc', [' a', ' b', '+c']],
    ['b\nc', 'a\nb\nc', ['+a', ' b', ' c']],
    ['a\nb\nc\nd', 'b\nd\ne', ['-a', ' b', '-c', ' d', '+e']],
    ['a\na', 'a', [' a', '-a']],
  ])('compares %j with %j by line', (before, after, lines) => {
    expect(format(before, after)).toEqual(lines);
  });

  it('treats very long texts as completely different', () => {
    const text = (mark: string) => Array.from({ length: 1100 }, (_, index) => `${mark} ${index % 7}`).join('\n');
    const lines = diffLines(`head\n${text('a')}\ntail`, `head\n${text('b')}\ntail`);
    expect(lines.map(({ kind }) => kind)).toEqual([
      'same',
      ...Array<string>(1100).fill('removed'),
      ...Array<string>(1100).fill('added'),
      'same',
    ]);
  });
});

describe('diffEntries', () => {
  it('finds no difference between equal applications', () => {
    expect(diffEntries({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
  });

  it('compares applications by field', () => {
    const before = { displayName: 'One', applicationProperties: { temperature: 0, starters: ['a', 'b'], gone: true } };
    const after = { applicationProperties: { temperature: 1, starters: ['a'], gone: true, mcp_toolset: [] }, displayName: 'One' };
    expect(diffEntries(before, after)).toEqual([
      { field: 'applicationProperties.temperature', before: '0', after: '1' },
      { field: 'applicationProperties.starters', before: 'a\nb', after: 'a' },
      { field: 'applicationProperties.mcp_toolset', before: undefined, after: '[]' },
    ]);
  });

  it('matches toolsets by name at any position', () => {
    const [shop, board] = [
      { name: 'Shop', url: 'a' },
      { name: 'Board', url: 'b' },
    ];
    expect(diffEntries({ list: [shop, board] }, { list: [board, { ...shop, url: 'c' }] })).toEqual([
      { field: 'list.Shop.url', before: 'a', after: 'c' },
    ]);
    expect(diffEntries({ list: [shop] }, { list: [shop, shop] })).toEqual([
      { field: 'list[1]', before: undefined, after: JSON.stringify(shop, undefined, 2) },
    ]);
    const tool = (name: string, description: string) => ({ open_ai_tool: { function: { name, description } } });
    expect(diffEntries([tool('find', 'x')], [tool('add', 'y'), tool('find', 'z')]).map(({ field }) => field)).toEqual([
      'find.open_ai_tool.function.description',
      'add',
    ]);
  });

  it('accepts any key names', () => {
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}') as object;
    expect(diffEntries({}, hostile).map(({ field }) => field)).toEqual(['__proto__', 'constructor']);
  });
});
