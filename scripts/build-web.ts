import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/**
 * Builds the page into web/dist, with packed copies beside each file. `--when-needed`: only where a source has changed since;
 * `--at-start`: the same, at an installation too, and a failure is told and no more, since the service can do without the page.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'web/dist');
const stampFile = '.stamp';
const sources = [
  'web/index.html',
  'web/vite.config.ts',
  'web/public/*',
  'web/src/**/*.{ts,tsx,css}',
  'src/{base,contract}/**/*.ts',
];

function stampOfSources(): string {
  const hash = createHash('sha256');
  const files = globSync([...sources, 'package-lock.json'], { cwd: root }).filter((file) => !file.includes('.test.'));
  for (const file of files.sort()) {
    hash.update(file).update('\0');
    hash.update(readFileSync(join(root, file))).update('\0');
  }
  return hash.digest('hex');
}

function pack(folder: string): void {
  for (const file of globSync('**/*.{html,js,css,svg}', { cwd: folder })) {
    const bytes = readFileSync(join(folder, file));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

/** Made aside and put in place whole: several may build at once, and what is served is never half. */
async function buildPage(stamp: string): Promise<void> {
  const aside = join(root, `web/.dist-${process.pid}`);
  try {
    // Whatever the surroundings are: React for development is many times slower.
    process.env.NODE_ENV = 'production';
    const { build } = await import('vite');
    await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn', build: { outDir: aside } });
    pack(aside);
    writeFileSync(join(aside, stampFile), stamp);
    rmSync(out, { recursive: true, force: true });
    renameSync(aside, out);
  } catch (thrown) {
    if (readStamp() !== stamp) throw thrown;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function readStamp(): string | undefined {
  const file = join(out, stampFile);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

const [flag] = process.argv.slice(2);
const stamp = stampOfSources();
if (flag === undefined || readStamp() !== stamp) {
  const began = performance.now();
  try {
    await buildPage(stamp);
    console.log(`The page is built: web/dist, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (thrown) {
    console.error('The page could not be built.', thrown);
    if (flag !== '--at-start') process.exitCode = 1;
  }
}
