/**
 * Builds the service into dist, as JavaScript in a few files. It starts several times as fast as the sources and uses less
 * memory. `runBuild` describes the flags.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OutputChunk, Plugin } from 'rolldown';
import packageJson from '../package.json' with { type: 'json' };
import { licensesFile, listLicenses } from './release/licenses.ts';
import { runBuild } from './stamped-build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'dist');

/**
 * Packages that the built code imports from node_modules. All other packages are bundled into the chunks, so that a start reads
 * fewer files. They are development dependencies, so the npm package does not install them.
 */
const externals: ReadonlySet<string> = new Set(Object.keys(packageJson.dependencies));

function isExternal(id: string, importer: string | undefined): boolean {
  if (id.startsWith('node:')) return true;
  const [, name] = /^((?:@[\w.-]+\/)?[\w.-]+)(?:\/|$)/.exec(id) ?? [];
  if (name === undefined || name.startsWith('.')) return false;
  return externals.has(name) && !importer?.includes('node_modules');
}

/** Returns source mappings for text whose lines have not moved. */
const lineByLine = (text: string): string => `AAAA${';AACA'.repeat(text.split('\n').length - 1)}`;

/**
 * Rewrites relative URLs in the sources, because all files of dist are in one folder. Each program of a worker thread becomes a
 * separate chunk.
 */
const rewriteRelativeUrls: Plugin = {
  name: 'rewrite-relative-urls',
  transform: {
    filter: { id: { exclude: /node_modules/ }, code: /new URL\('\.[^']*', import\.meta\.url\)/ },
    handler(code, id) {
      const rewritten = code.replaceAll(/new URL\('(\.[^']*)', import\.meta\.url\)/g, (_all, path: string) => {
        const target = resolve(dirname(id), path);
        if (!/\.[jt]s$/.test(path)) {
          const end = path.endsWith('/') ? '/' : '';
          return `new URL('${relative(out, target)}${end}', import.meta.url)`;
        }
        const name = basename(path).replace(/\.[jt]s$/, '');
        this.emitFile({ type: 'chunk', id: target, fileName: `${name}.js` });
        return `new URL('./${name}.js', import.meta.url)`;
      });
      return { code: rewritten, map: { mappings: lineByLine(code) } };
    },
  },
};

/** Packages that Fastify loads for its route schemas and for injected requests. The service uses neither (`compose.ts`). */
const unusedPackages = /^(?:@fastify\/(?:ajv|fast-json-stringify)-compiler|light-my-request)$/;

/** Omits packages that are never used, because V8 would keep their 0.5 MB of text in memory. */
const omitUnusedPackages: Plugin = {
  name: 'omit-unused-packages',
  resolveId: {
    filter: { id: unusedPackages },
    handler: (id) => `\0${id}`,
  },
  load: {
    filter: { id: /^\0(?:@fastify|light)/ },
    handler: (id) => `throw new Error('${id.slice(1)} is not part of the built service');`,
  },
};

/**
 * Imports Node's own modules with `getBuiltinModule`. An `import` would read each of their exports and thereby load
 * unused parts: 29 ms and 14 MB for `node:http` alone.
 */
function withLeanBuiltins(code: string): string {
  return code.replaceAll(/^import (?:\* as )?(.+) from "(node:[\w/]+)";$/gm, (_all, names: string, module: string) => {
    const [, defaultName, , list] = /^([\w$]+)?(, )?(\{.*\})?$/.exec(names) ?? [];
    const bindings = [defaultName, list?.replaceAll(' as ', ': ')].filter((binding) => binding !== undefined);
    const [first, ...otherBindings] = bindings;
    const second = otherBindings.map((pattern) => `, ${pattern} = ${first}`).join('');
    return `const ${first} = process.getBuiltinModule("${module}")${second};`;
  });
}

async function bundle(): Promise<OutputChunk[]> {
  const { rolldown } = await import('rolldown');
  const bundling = await rolldown({
    input: { main: join(root, 'src/app/main.ts'), 'map-stacks': join(root, 'src/base/map-stacks.ts') },
    cwd: root,
    platform: 'node',
    tsconfig: join(root, 'tsconfig.json'),
    external: isExternal,
    resolve: { mainFields: ['module', 'main'] },
    plugins: [rewriteRelativeUrls, omitUnusedPackages],
  });
  const { output } = await bundling.generate({
    format: 'esm',
    sourcemap: true,
    comments: false,
    intro: ({ isEntry, name }) => (isEntry && name !== 'map-stacks' ? "import './map-stacks.js';" : ''),
    // Escapes only characters outside of ASCII, because they would make V8 store two bytes for each character of a file.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  return output.filter((file) => file.type === 'chunk');
}

async function buildService(folder: string): Promise<void> {
  const chunks = await bundle();
  mkdirSync(folder, { recursive: true });
  for (const { fileName, code, map } of chunks) {
    const lean = withLeanBuiltins(code);
    const [unhandledImport] = /^import .* from "node:.*$/m.exec(lean) ?? [];
    if (unhandledImport !== undefined)
      throw new Error(`${fileName} imports a Node module in an unknown form: ${unhandledImport}`);
    writeFileSync(join(folder, fileName), lean);
    if (map !== null) writeFileSync(join(folder, `${fileName}.map`), map.toString());
  }
  const licenses = listLicenses(chunks.flatMap(({ moduleIds }) => moduleIds));
  writeFileSync(join(folder, licensesFile), `${JSON.stringify(licenses, null, 2)}\n`);
}

// bin/parley compares this stamp before it starts the built service.
const stamp = execFileSync(join(root, 'bin/source-stamp'), { encoding: 'utf8' });
await runBuild({ title: 'The service', out, stamp, build: buildService }, process.argv[2]);
