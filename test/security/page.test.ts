import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);

it('every test that docs/security.md names exists and contains the quoted words', () => {
  const rows = readFileSync(new URL('docs/security.md', root), 'utf8').split('\n');
  const named = rows.flatMap((row) => [
    ...row.matchAll(/(`(?:src|test|web)\/)?([\w./-]+\.(?:test\.tsx?|json))`?(?:[^`|]*?\("([^"]+)"\))?/g),
  ]);
  expect(named.length).toBeGreaterThan(40);
  for (const [, folder, name = '', quoted] of named) {
    const path = folder === undefined ? `test/security/${name}` : `${folder.slice(1)}${name}`;
    const at = new URL(name === 'package.json' ? name : path, root);
    expect([path, existsSync(at)]).toEqual([path, true]);
    if (quoted !== undefined) expect([path, readFileSync(at, 'utf8').includes(quoted)]).toEqual([path, true]);
  }
});
