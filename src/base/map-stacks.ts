import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/**
 * Maps the stack traces of the built service to the source files. Built programs load this module first in each thread. A source
 * map is read when the first stack trace needs it. Node's own source map support would read each file a second time at startup,
 * which takes 6 MB in the smallest process.
 */
function mapStacks(): void {
  const maps = new Map<string, SourceMap | undefined>();
  const folder = import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1);
  const getMap = (file: string): SourceMap | undefined => {
    if (!maps.has(file)) maps.set(file, readMap(file));
    return maps.get(file);
  };
  Error.prepareStackTrace = (error, sites) => {
    const lines = sites.map((site) => {
      const file = site.getFileName();
      return `\n    at ${file?.startsWith(folder) ? toSource(site, file, getMap(file)) : site}`;
    });
    return `${getName(error)}${lines.join('')}`;
  };
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')));
  } catch {
    return undefined;
  }
}

function toSource(site: NodeJS.CallSite, file: string, map: SourceMap | undefined): string {
  const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
  if (map === undefined || line === null || column === null) return `${site}`;
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalSource' in entry)) return `${site}`;
  const location = `${new URL(entry.originalSource, file).href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  return `${site}`.replace(`${file}:${line}:${column}`, location);
}

function getName(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

mapStacks();
