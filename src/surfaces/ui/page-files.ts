import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';

/** One file of the built page. */
export interface PageFile {
  /** Below the root of the page, such as `assets/main-BkQ1.js`. */
  readonly path: string;
  readonly contentType: string;
  readonly etag: string;
  readonly plain: Buffer;
  /** Packed copies, where the build made any. */
  readonly brotli: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
};

/** The names of the files directly in the folder of the page, with a known type; none if the page is not built. */
export function namesAtRoot(folder: string): string[] {
  if (!existsSync(join(folder, 'index.html'))) return [];
  return readdirSync(folder).filter((name) => extname(name) in contentTypes);
}

/** Every file of the built page, by its path. A file without a known type is left out. */
export async function readPage(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const contents = new Map(await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)));
  const page = new Map<string, PageFile>();
  for (const [found, plain] of contents) {
    const contentType = contentTypes[extname(found)];
    if (contentType === undefined) continue;
    const path = found.replaceAll('\\', '/');
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    page.set(path, { path, contentType, etag, plain, brotli: contents.get(`${found}.br`), gzip: contents.get(`${found}.gz`) });
  }
  return page;
}
