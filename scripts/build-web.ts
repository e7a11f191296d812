/** Builds the page into web/dist, with compressed copies of its text files. `runBuild` describes the flags. */

import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type License, licensesFile, listLicenses } from './release/licenses.ts';
import { runBuild } from './stamped-build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = [
  'web/index.html',
  'web/vite.config.ts',
  'web/public/*',
  'web/src/**/*.{ts,tsx,css}',
  'web/{worker,diagram}/*.ts',
  'src/{base,contract}/**/*.ts',
];

function computeStamp(): string {
  const hash = createHash('sha256');
  const files = globSync([...sources, 'package-lock.json'], { cwd: root }).filter((file) => !file.includes('.test.'));
  for (const file of files.sort()) {
    hash.update(file).update('\0');
    hash.update(readFileSync(join(root, file))).update('\0');
  }
  return hash.digest('hex');
}

/** Builds the service worker. It contains the names of the files that it stores. */
async function buildWorker(folder: string): Promise<void> {
  const { build } = await import('rolldown');
  const files = globSync(['assets/*.{js,css}', 'assets/!(KaTeX)*.woff2', 'parley.svg', 'sheet.{html,js}'], {
    cwd: folder,
  }).sort();
  const [, entry] = /src="\.\/(assets\/[^"]+\.js)"/.exec(readFileSync(join(folder, 'index.html'), 'utf8')) ?? [];
  if (entry === undefined) throw new Error('index.html has no script');
  const id = computeStamp().slice(0, 16);
  await build({
    input: join(root, 'web/worker/service-worker.ts'),
    output: { file: join(folder, 'service-worker.js'), format: 'iife', minify: true },
    transform: { define: { BUILD: JSON.stringify({ id, files, entry }) } },
    logLevel: 'warn',
  });
}

/**
 * Builds the script of the sandboxed frame that draws diagrams. It is one file, because a frame without an origin cannot load
 * modules. Returns the licenses of its packages.
 */
async function buildDiagram(folder: string): Promise<readonly License[]> {
  const { build } = await import('rolldown');
  const { output } = await build({
    input: join(root, 'web/diagram/diagram.ts'),
    platform: 'browser',
    output: { file: join(folder, 'diagram.js'), format: 'iife', minify: true, codeSplitting: false },
    logLevel: 'warn',
  });
  return listLicenses(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));
}

/** Adds the licenses of the diagrams, and of the typeface, which is part of the sources and not of a package. */
function addLicenses(file: string, added: readonly License[]): void {
  const licenses = JSON.parse(readFileSync(file, 'utf8')) as License[];
  const text = readFileSync(join(root, 'web/src/typeface/LICENSE.txt'), 'utf8').trim();
  const names = new Set(licenses.map(({ name }) => name));
  licenses.push(...added.filter(({ name }) => !names.has(name)));
  licenses.push({ name: 'Public Sans', version: '2.001', identifier: 'OFL-1.1', text });
  writeFileSync(file, `${JSON.stringify(licenses, null, 2)}\n`);
}

/** Maximum size of a file that is compressed with the best quality. A larger file would take several seconds. */
const maxBestQualityBytes = 1024 ** 2;

/** Writes a Brotli and a gzip copy next to each HTML, JavaScript, CSS, and SVG file. */
function compressFiles(folder: string): void {
  for (const file of globSync('**/*.{html,js,css,svg}', { cwd: folder })) {
    const bytes = readFileSync(join(folder, file));
    const params = {
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_QUALITY]: bytes.length > maxBestQualityBytes ? 9 : constants.BROTLI_MAX_QUALITY,
    };
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

async function buildPage(folder: string): Promise<void> {
  // Set regardless of the environment, because React's development build is many times slower.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  const license = { fileName: licensesFile };
  await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn', build: { outDir: folder, license } });
  addLicenses(join(folder, licensesFile), await buildDiagram(folder));
  await buildWorker(folder);
  compressFiles(folder);
}

const plan = { title: 'The page', out: join(root, 'web/dist'), stamp: computeStamp(), build: buildPage };
await runBuild(plan, process.argv[2]);
