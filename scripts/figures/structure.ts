import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Figures on the size and structure of the code. Lower figures are better. */
export type StructureFigures = Record<
  'srcFiles' | 'srcLines' | 'webFiles' | 'webLines' | 'fragments' | 'largestFolder' | 'testsWithInternalImports',
  number
>;

/** A fragment is a file with fewer lines that is imported by exactly one file, in the same folder. */
const maxFragmentLines = 80;
const localesPattern = /\/locales\//;
/** Folders that behavior tests may import. The tests reach all other code through the running service. */
const importableFolders = /^#(?:base|contract|test)\//;

/** Measures src and web/src without tests, and the imports of the behavior tests. */
export function measureStructure(): StructureFigures {
  const src = listSources(['src/**/*.ts']);
  const web = listSources(['web/src/**/*.{ts,tsx}']).filter((path) => !localesPattern.test(path));
  const texts = new Map([...src, ...web].map((path) => [path, readFileSync(path, 'utf8')]));
  const lines = new Map([...texts].map(([path, text]) => [path, countCodeLines(text)]));
  const importers = countImporters(texts);
  const isFragment = (path: string): boolean => {
    const importingPaths = importers.get(path) ?? new Set();
    const [importingPath = ''] = importingPaths;
    return importingPaths.size === 1 && dirname(importingPath) === dirname(path) && (lines.get(path) ?? 0) < maxFragmentLines;
  };
  const folders = Map.groupBy(texts.keys(), dirname);
  const sum = (paths: readonly string[]): number => paths.reduce((total, path) => total + (lines.get(path) ?? 0), 0);
  return {
    srcFiles: src.length,
    srcLines: sum(src),
    webFiles: web.length,
    webLines: sum(web),
    fragments: [...texts.keys()].filter(isFragment).length,
    largestFolder: Math.max(...[...folders.values()].map((files) => files.length)),
    testsWithInternalImports: globSync('test/**/*.test.ts').filter(importsInternalFolder).length,
  };
}

function listSources(patterns: readonly string[]): string[] {
  return globSync(patterns).filter((path) => !path.includes('.test.'));
}

/** Counts lines without comments, blank lines, and imports. */
function countCodeLines(text: string): number {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^import\b[\s\S]*?from\s+'[^']*'(?: with \{[^}]*\})?;$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}

function countImporters(texts: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const importers = new Map<string, Set<string>>();
  for (const [path, text] of texts) {
    for (const [, target = ''] of text.matchAll(/(?:from|import\()\s*'([#.][^']*)'/g)) {
      const imported = target.startsWith('#') ? `src/${target.slice(1)}` : normalize(join(dirname(path), target));
      importers.set(imported, (importers.get(imported) ?? new Set()).add(path));
    }
  }
  return importers;
}

function importsInternalFolder(path: string): boolean {
  const targets = [...readFileSync(path, 'utf8').matchAll(/^(?:import|\} from)[^;]*'(#[^']*)';$/gm)].map(
    ([, target = '']) => target,
  );
  return targets.some((target) => !importableFolders.test(target));
}
