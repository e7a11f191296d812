import { cpSync, existsSync, globSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool } from './run-tool.ts';

/** Folder of Parley in the image. */
export const appFolder = 'opt/parley';

/** Files of the checkout that the image contains, next to the packages of the lockfile. */
const contents = ['LICENSE', 'bin/parley', 'dist', 'package.json', 'samples', 'scripts/back-up.ts', 'web/dist'];

/** Files of packages that Parley never loads. License files stay. */
const unusedFiles = '**/*.{map,ts,mts,cts,flow,tsbuildinfo,md,MD,markdown}';

/** Folders and files of single packages that Parley never loads. */
const unusedParts = [
  'node-linux-*/{include,share}',
  '@ai-sdk/*/{docs,src}',
  // The tokenizer has each encoding in several forms. Parley imports two of them as ES modules.
  'gpt-tokenizer/{cjs,data,dist,src}',
  'gpt-tokenizer/esm/bpeRanks/!(cl100k_base|o200k_base).js',
  // Bundles for browsers. The module for Node is next to them.
  '@e965/xlsx/dist',
];

/** Node's name of an architecture, and the prefix of its binutils. */
export interface Architecture {
  readonly node: 'x64' | 'arm64';
  readonly strip: string;
}

/**
 * Writes the packages of the lockfile and the built service. `checkout` must contain the builds in `dist` and `web/dist`.
 */
export function writeAppFiles(root: string, checkout: string, { node, strip }: Architecture): void {
  const app = join(root, appFolder);
  mkdirSync(app, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(checkout, name), join(app, name));
  runTool('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--os=linux', `--cpu=${node}`, '--libc=glibc'], { cwd: app });
  for (const name of ['package-lock.json', '.npmrc', 'node_modules/.bin', 'node_modules/.package-lock.json'])
    rmSync(join(app, name), { recursive: true });
  const modules = join(app, 'node_modules');
  removeUnusedFiles(modules);
  mkdirSync(join(modules, '.bin'));
  symlinkSync(`../node-linux-${node}/bin/node`, join(modules, '.bin/node'));
  runTool(strip, [join(modules, `node-linux-${node}/bin/node`)]);
  for (const path of contents) {
    if (!existsSync(join(checkout, path))) throw new Error(`${path} is missing in ${checkout}. Run npm run build first.`);
    mkdirSync(dirname(join(app, path)), { recursive: true });
    cpSync(join(checkout, path), join(app, path), { recursive: true, filter: (source) => !/\.(?:map|stamp)$/.test(source) });
  }
}

function removeUnusedFiles(modules: string): void {
  const files = globSync(unusedFiles, { cwd: modules, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) rmSync(join(parentPath, name));
  const parts = [...unusedParts, ...unusedParts.map((pattern) => `**/node_modules/${pattern}`)];
  for (const path of globSync(parts, { cwd: modules })) rmSync(join(modules, path), { recursive: true, force: true });
}
