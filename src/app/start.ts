import { readFileSync } from 'node:fs';
import { setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stampFile, stampOfSources } from './source-stamp.ts';

/**
 * What `bin/parley` starts if the service is built: what was built of the sources as they are now, and otherwise the sources
 * themselves. Stack traces show the lines of the sources; a source map is read with the first trace that needs it.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));

function isBuiltOfTheseSources(): boolean {
  try {
    return readFileSync(new URL(stampFile, import.meta.url), 'latin1') === stampOfSources(root);
  } catch {
    return false;
  }
}

if (isBuiltOfTheseSources()) {
  setSourceMapsSupport({ enabled: true, nodeModules: false, generatedCode: false });
  await import('./main.ts');
} else {
  console.error('parley: what is built in dist is not of these sources, which run instead, slower to start; see npm run build:service');
  await import(pathToFileURL(join(root, 'src/app/main.ts')).href);
}
