import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the files in the first cells of the tables. A file without a folder is in the folder of the file before it. */
function listNamedFiles(page: string): string[] {
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

it('CONTRIBUTING names only existing files in the request path', async () => {
  const files = listNamedFiles(await readFile(join(root, 'CONTRIBUTING.md'), 'utf8'));
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
