import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What the first cells of the tables name; one without a folder lies in that of the one before it. */
function filesNamed(page: string): string[] {
  const tables = page.slice(page.indexOf('### Request'), page.indexOf('Other calls run'));
  return tables.split('\n').flatMap((line) => {
    const cell = line.startsWith('| `') ? (line.split('|')[1] ?? '') : '';
    let folder = '';
    return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
      const file = name.includes('/') ? name : join(folder, name);
      folder = dirname(file);
      return `src/${file}.ts`;
    });
  });
}

it('the page of the straight line names files that are there', async () => {
  const named = filesNamed(await readFile(join(root, 'docs/straight-line.md'), 'utf8'));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
