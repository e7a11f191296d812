// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isJsonObject } from '#base/json/json.ts';
import { checkImported, fixture, runImport } from './support.ts';

/** Values that a user might enter by mistake. */
const wrongValue = fc.oneof(
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

type Path = readonly (string | number)[];

function listPaths(value: unknown, place: Path = []): readonly Path[] {
  const members = Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : [];
  return [place, ...members.flatMap(([key, member]) => listPaths(member, [...place, key]))].filter(({ length }) => length > 0);
}

/** Returns a copy with another value at one path. */
function replaceAt(value: unknown, [key, ...rest]: Path, other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaceAt(item, rest, other) : item));
  if (!isJsonObject(value)) return other;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === key ? replaceAt(member, rest, other) : member]),
  );
}

const sources = {
  dial: JSON.parse(await fixture('dial-core.json')) as unknown,
  litellm: parse(await fixture('litellm-proxy.yaml'), { version: '1.1', merge: true }) as unknown,
};

describe.each(['dial', 'litellm'] as const)('configuration of %s with up to 3 wrong values', (from) => {
  const places = listPaths(sources[from]);

  it('is rejected or converted to a configuration that passes the check', async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...places), wrongValue), { minLength: 1, maxLength: 3 }),
        async (changes) => {
          const value = changes.reduce((before, [place, other]) => replaceAt(before, place, other), sources[from]);
          const { text, lines, exitCode } = await runImport({ from, files: { 'a.json': JSON.stringify(value) } });
          if (text === '') {
            expect([exitCode, lines.length]).toEqual([1, 1]);
            return;
          }
          expect((await checkImported(text)).lines.at(-1)).toContain('no errors');
          passed += 1;
        },
      ),
      { numRuns: 150 },
    );
    expect(passed).toBeGreaterThan(100);
  });
});
