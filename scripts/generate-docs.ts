import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configurationJsonSchema } from '#configuration/json-schema.ts';
import { configurationReference, quickAppReference } from '#configuration/reference.ts';
import { errorReference } from './error-reference.ts';
import { roleReference } from './role-reference.ts';
import { compatibilityPage } from './upstream-reference.ts';

/** Generators of pages, by path from the root of the repository. */
const pages: ReadonlyMap<string, () => string> = new Map([
  ['docs/configuration.md', configurationReference],
  ['docs/configuration.schema.json', () => `${JSON.stringify(configurationJsonSchema(), null, 2)}\n`],
  ['docs/quick-app-reference.md', quickAppReference],
  ['docs/errors.md', errorReference],
  ['docs/compatibility.md', compatibilityPage],
  ['docs/roles.md', roleReference],
]);

const root = join(import.meta.dirname, '..');

/** Writes the pages. With `--check`, only reports the pages that differ. */
async function generate(isCheck: boolean): Promise<void> {
  for (const [path, render] of pages) {
    const file = join(root, path);
    const text = render();
    const committed = await readFile(file, 'utf8').catch(() => undefined);
    if (committed === text) continue;
    if (isCheck) {
      console.error(`${path} is out of date. Run: node scripts/generate-docs.ts`);
      process.exitCode = 1;
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      console.log(`wrote ${path}`);
    }
  }
}

await generate(process.argv.includes('--check'));
