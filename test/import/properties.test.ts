// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isJsonObject } from '#base/json/json.ts';
import { checkImported, fixture, runImport } from './support.ts';

/** What a person may put in the wrong place. */
const odd = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e300,
    '',
    ' ',
    'x',
    'a//b',
    '../x',
    '$',
    '${',
    '${X}',
    'http://',
    'https://x/y?key=1',
    'os.environ/X',
  ),
  fc.string(),
  fc.array(fc.constantFrom(1, 'x', null), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('endpoint', 'model', '__proto__', 'x'), fc.constantFrom(1, 'x', null), { maxKeys: 2 }),
);

type Place = readonly (string | number)[];

function placesIn(value: unknown, place: Place = []): readonly Place[] {
  const members = Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : [];
  return [place, ...members.flatMap(([key, member]) => placesIn(member, [...place, key]))].filter(({ length }) => length > 0);
}

/** A copy with something else at one place. */
function withOther(value: unknown, [key, ...rest]: Place, other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? withOther(item, rest, other) : item));
  if (!isJsonObject(value)) return other;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === key ? withOther(member, rest, other) : member]),
  );
}

const sources = {
  dial: JSON.parse(await fixture('dial-core.json')) as unknown,
  litellm: parse(await fixture('litellm-proxy.yaml'), { version: '1.1', merge: true }) as unknown,
};

describe.each(['dial', 'litellm'] as const)('whatever stands in a configuration of %s', (from) => {
  const places = placesIn(sources[from]);

  it('the import answers, and its result passes the check', async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...places), odd), { minLength: 1, maxLength: 3 }), async (changes) => {
        const value = changes.reduce((before, [place, other]) => withOther(before, place, other), sources[from]);
        const { text, lines, exitCode } = await runImport({ from, files: { 'a.json': JSON.stringify(value) } });
        if (text === '') {
          expect([exitCode, lines.length]).toEqual([1, 1]);
          return;
        }
        expect((await checkImported(text)).lines.at(-1)).toContain('no errors');
        passed += 1;
      }),
      { numRuns: 150 },
    );
    expect(passed).toBeGreaterThan(100);
  });
});
