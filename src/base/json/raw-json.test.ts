import { describe, expect, it } from 'vitest';
import { JsonError, type JsonObject, parseJson } from './json.ts';
import { parseJsonBytes, toJsonPieces } from './raw-json.ts';

const long = 'The overhead of a gateway should be small. '.repeat(400);

/** Returns the serialized value, or the message of the reader's error. */
function toOutcome(read: () => unknown): unknown {
  try {
    return JSON.stringify(read());
  } catch (thrown) {
    if (thrown instanceof JsonError) return thrown.message;
    throw thrown;
  }
}

function written(copy: JsonObject): string {
  return Buffer.from((toJsonPieces(copy) ?? []).join(''), 'latin1').toString();
}

describe('parseJsonBytes', () => {
  const texts: readonly [string, string][] = [
    ['a long string', JSON.stringify({ a: long, b: [long, { c: long }] })],
    ['a string alone', JSON.stringify(long)],
    ['an escape at the end of a long string', `{"a":"${long}\\""}`],
    ['a lone backslash at the end of a long string', `{"a":"${long}\\"}`],
    ['an invalid escape in a long string', `{"a":"${long}\\x"}`],
    ['a line feed in a long string', `{"a":"${long}\n"}`],
    ['a line feed between tokens', `{"a":\n"${long}"}`],
    ['letters beyond ASCII', JSON.stringify({ a: `ä${long}`, [`ключ${long}`]: long })],
    ['a long key', JSON.stringify({ [long]: 1 })],
    ['a long key and a space', `{"${long}" : 1}`],
    ['a string that is not closed', `{"a":"${long}`],
    ['a comma too many', `{"a":"${long}",}`],
    ['two values', `{"a":"${long}"} 1`],
    ['a number beyond 2^53', `{"a":"${long}","b":12345678901234567890}`],
    ['a key named __proto__', `{"a":"${long}","__proto__":1}`],
    ['a text nested too deeply', `{"a":"${long}","b":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['a byte order mark', `\ufeff{"a":"${long}"}`],
    ['half of a pair of surrogates', `{"a":"${long}","b":"\\ud800"}`],
  ];

  it.each(texts)('returns the same result as parseJson for %s', (_name, text) => {
    const bytes = Buffer.from(text);
    expect(bytes.length).toBeGreaterThan(16 * 1024);
    for (const offset of [0, 1, 2, 3]) {
      const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).subarray(offset);
      expect(toOutcome(() => parseJsonBytes(shifted))).toEqual(toOutcome(() => parseJson(text)));
    }
  });

  it('rejects bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from(`{"a":"${long}`), Buffer.from([0xc3]), Buffer.from('"}')]);
    expect(toOutcome(() => parseJsonBytes(bytes))).toBe('the text is not valid UTF-8');
  });
});

describe('toJsonPieces', () => {
  const text = `{"model":"a", "messages": [{"role":"user","content":"${long}"}],"seed":1.0}`;
  const parsed = (json: string) => parseJsonBytes(Buffer.from(json)) as JsonObject;

  it('reuses the text of unchanged fields and serializes the changed ones', () => {
    expect(written({ ...parsed(text), model: 'b', none: undefined })).toBe(
      `{"model":"b","messages": [{"role":"user","content":"${long}"}],"seed":1}`,
    );
  });

  it('serializes a field again if it is another object', () => {
    const request = parsed(text);
    const copy = { ...request, tools: [], messages: [...(request.messages as unknown[])] };
    expect(toJsonPieces(copy)).toBeUndefined();
  });

  it('returns undefined for an object with a duplicate key at any depth', () => {
    const twice = text.replace('"role":"user"', '"role":"user","role":"system"');
    expect(parsed(twice)).toEqual(JSON.parse(twice));
    expect(toJsonPieces(parsed(twice))).toBeUndefined();
  });

  it('returns undefined if a large field occurs twice', () => {
    const twice = `{"a":"${long}","a":"${long}"}`;
    expect(toJsonPieces(parsed(twice))).toBeUndefined();
  });

  it('returns undefined for small texts', () => {
    expect(toJsonPieces(parsed('{"a":1}'))).toBeUndefined();
  });
});

describe('parseJsonBytes and toJsonPieces', () => {
  /** Returns a generator of a fixed pseudorandom sequence of integers below its argument. */
  function numbers(start: number): (max: number) => number {
    let state = start;
    return (max) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * max);
    };
  }

  const below = numbers(20261122);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const toText = (): string => {
    const text = long.slice(0, pick([0, 3, 20, 511, 512, 513, 2000, 5000]));
    const unusual = pick(['', '', '', '\\', '\n', 'ä', '👋', '\u0000', '\ud800', '"', '__proto__']);
    return pick([text + unusual, unusual + text, text.replace('small', `s${unusual}mall`)]);
  };
  const toValue = (depth: number): unknown => {
    const kind = below(depth > 4 ? 3 : 7);
    if (kind < 2) return toText();
    if (kind === 2) return pick([0, -1, 1.5, 1e21, 1e-7, true, false, null]);
    const values = Array.from({ length: below(6) }, () => toValue(depth + 1));
    return kind < 5
      ? values
      : Object.fromEntries(values.map((value, index) => [below(9) === 0 ? toText() : `key${index}`, value]));
  };
  const damage = (text: string): string => {
    const [at, count] = [below(text.length), below(3) + 1];
    const unusual = pick([
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      ' ',
      '\n',
      '\u0001',
      '1e999',
      '12345678901234567890',
      '\\u00',
      'ä',
    ]);
    return pick([text, text, text.slice(0, at) + unusual + text.slice(at), text.slice(0, at) + text.slice(at + count)]);
  };
  const nextText = (): string => {
    const object = { pad: long.slice(0, below(long.length)), a: toValue(1), b: toValue(1), c: toValue(1) };
    const json = JSON.stringify(object, null, below(8) === 0 ? 1 : undefined);
    return damage(below(5) === 0 ? json.replaceAll('":', '": ').replaceAll(',"', ', "') : json);
  };

  it('match parseJson and JSON.stringify for 2,000 texts', () => {
    const seen = { refused: 0, written: 0 };
    for (let count = 0; count < 2000; count += 1) {
      const text = Buffer.from(nextText()).toString();
      const found = toOutcome(() => parseJsonBytes(Buffer.from(text)));
      expect(found).toEqual(toOutcome(() => parseJson(text)));
      const value = attempt(() => parseJsonBytes(Buffer.from(text)) as JsonObject);
      const pieces = value === undefined ? undefined : toJsonPieces({ ...value, pad: 'other' });
      if (value === undefined) seen.refused += 1;
      if (pieces === undefined) continue;
      seen.written += 1;
      expect(JSON.stringify(parseJson(Buffer.from(pieces.join(''), 'latin1').toString()))).toBe(
        JSON.stringify({ ...value, pad: 'other' }),
      );
    }
    expect(seen.refused).toBeGreaterThan(100);
    expect(seen.written).toBeGreaterThan(100);
  });
});

function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
