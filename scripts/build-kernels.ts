/**
 * Compiles embedding-kernels.assemblyscript to src/base/embedding/kernels.ts, which is committed. The compiler (100 MB) is
 * downloaded only for this script.
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const compiler = 'assemblyscript@0.28.20';
const folder = mkdtempSync(join(tmpdir(), 'parley-kernels-'));
const [source, binary] = [join(folder, 'kernels.ts'), join(folder, 'kernels.wasm')];
copyFileSync(new URL('embedding-kernels.assemblyscript', import.meta.url), source);
const flags = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--enable', 'bulk-memory', '--importMemory'];
execFileSync('npx', ['--yes', '--package', compiler, 'asc', source, ...flags, '-o', binary], { stdio: 'inherit' });
const code = readFileSync(binary).toString('base64');
const header = '/** WebAssembly in base64; made by scripts/build-kernels.ts from embedding-kernels.assemblyscript beside it. */';
writeFileSync(new URL('../src/base/embedding/kernels.ts', import.meta.url), `${header}\nexport const kernels =\n  '${code}';\n`);
rmSync(folder, { recursive: true });
