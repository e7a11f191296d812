import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rules = ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json'];

const feature = (name: string) =>
  `import type { Feature } from '../service/feature.ts'\nexport const ${name}: Feature = { add: () => undefined }\n`;

const featureList = (...paths: readonly string[]) => paths.map((path) => `export * from '${path}'\n`).join('');

/** A source tree that meets the rules. */
const valid = {
  'src/app/service/feature.ts': 'export interface Feature { readonly add: () => void }\n',
  'src/app/service/features.ts': featureList('../features/chats.ts', '../features/page.ts'),
  'src/app/features/chats.ts': feature('chats'),
  'src/app/features/page.ts': feature('page'),
  'web/src/app.ts': 'export const app = 1\n',
};

/** Runs the check over the valid tree with other or additional files. */
async function check(files: Readonly<Record<string, string>>): Promise<{ code: number; output: string }> {
  await using folder = await openFolder();
  for (const name of rules) await copyFile(join(root, name), join(folder.path, name));
  for (const [name, text] of Object.entries({ ...valid, ...files })) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  const env = { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) };
  return await new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'scripts/check-layers.ts')], { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

describe('check-layers', () => {
  it('passes if each feature is one file', async () => {
    expect(await check({})).toEqual({ code: 0, output: 'layers: 5 modules, no violation\n' });
  });

  it('fails if a feature imports another one, is outside its folder, or shares a file', async () => {
    const { code, output } = await check({
      'src/app/features/page.ts': `export { chats } from './chats.ts'\n${feature('page')}`,
      'src/app/features/files.ts': `${feature('files')}export const scim: Feature = { add: () => undefined }\n`,
      'src/app/features/shared.ts': 'export const maxBytes = 1\n',
      'src/app/alerts.ts': feature('alerts').replace('../service', './service'),
      'src/app/serve.ts': "export { page } from './features/page.ts'\n",
      'src/app/service/features.ts': featureList('../features/chats.ts', '../features/page.ts', '../alerts.ts'),
    });
    expect(code).toBe(1);
    expect(output.trim().split('\n').toSorted()).toEqual([
      'features-are-files: src/app/features/files.ts must define one feature',
      'features-are-files: src/app/features/shared.ts must define one feature',
      'features-are-in-their-folder: src/app/service/features.ts → src/app/alerts.ts',
      'features-are-separate: src/app/features/page.ts → src/app/features/chats.ts',
      'features-are-separate: src/app/serve.ts → src/app/features/page.ts',
    ]);
  });
});
