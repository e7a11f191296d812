import { describe, expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { defaultJsonBounds, JsonError, parseJson, tryParseJson } from './json.ts';

const bounds = { ...defaultJsonBounds, maxNodes: 20 };

describe('parseJson', () => {
  it.each([
    ['lists in a list', `[${'[],'.repeat(20)}[]]`],
    ['numbers', `[${'1,'.repeat(20)}1]`],
    ['keys', `{${Array.from({ length: 15 }, (_, index) => `"${index}":1`).join(',')}}`],
    ['text that is not JSON at its end', `[${'[],'.repeat(20)}`],
  ])('rejects a text with too many nodes before parsing it: %s', (_what, text) => {
    expect(() => parseJson(text, bounds)).toThrow(`more than ${bounds.maxNodes} keys and items`);
  });

  it('rejects a text that is nested too deeply, long or short, closed or not', () => {
    for (const text of ['['.repeat(65), `${'['.repeat(65)}${']'.repeat(65)}`, '{"a":'.repeat(70)])
      expect(() => parseJson(text, { ...defaultJsonBounds, maxNodes: 60 })).toThrow(JsonError);
    const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
    expect(() => parseJson(deep)).toThrow('nested deeper than 64 levels');
    expect(parseJson(deep.slice(1, -1))).toHaveLength(1);
  });

  it('does not count structural characters inside strings', () => {
    const text = JSON.stringify({ a: '[{,:'.repeat(100), '\\"[': ['\\', '\\\\"', '{'.repeat(100)] });
    expect(parseJson(text, { ...bounds, maxNodes: 30 })).toEqual(JSON.parse(text));
  });

  it('rejects a text with too many nodes quickly', async () => {
    const text = `[${'[],'.repeat(5_000_000)}[]]`;
    expect(await measureEventLoopBlock(() => expect(tryParseJson(text)).toBeUndefined())).toBeLessThan(1000);
  });

  it('keeps unrepresentable numbers among many nodes only if there is no bound', () => {
    const text = `[12345678901234567890${',1'.repeat(60_000)}]`;
    expect(() => parseJson(text)).toThrow('among more than 50000 keys and items');
    expect(parseJson(text, { ...defaultJsonBounds, maxNodes: Number.POSITIVE_INFINITY })).toHaveLength(60_001);
  });

  it('keeps numbers that JavaScript cannot represent unchanged', () => {
    const text = '{"a":[12345678901234567890,-9007199254740993,1e400],"b":[1.5,9007199254740991,-0,1e20,0.1]}';
    expect(JSON.stringify(parseJson(text))).toBe(
      '{"a":[12345678901234567890,-9007199254740993,1e400],"b":[1.5,9007199254740991,0,100000000000000000000,0.1]}',
    );
  });
});

it('counts escapes in linear time if no string has one', async () => {
  const text = `{"pad":[${Array.from({ length: 50_000 }, () => '"0123456789"').join()}],"big":"${'y'.repeat(8_000_000)}"}`;
  expect(await measureEventLoopBlock(() => parseJson(text))).toBeLessThan(1000);
});

describe('parseJson with surrogates', () => {
  it.each([
    ['high', '\\ud800'],
    ['low', '\\uDC00'],
  ])('rejects a text with more than 100,000 lone %s surrogates', (_half, surrogate) => {
    expect(parseJson(`{"${surrogate.repeat(100_000)}":"${'x'.repeat(10)}"}`)).toBeTypeOf('object');
    expect(() => parseJson(`{"${surrogate.repeat(100_001)}":1}`)).toThrow('more than 100000 lone surrogates');
  });

  it('accepts any number of pairs', () => {
    expect(parseJson(`"${'\\ud83d\\uDE00'.repeat(200_000)}"`)).toHaveLength(400_000);
  });
});
