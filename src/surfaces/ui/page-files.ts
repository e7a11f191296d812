import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

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
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
};

/** The files of a built page; none where it is not built. What has no known type is left out. */
export function readPageFiles(folder: string): PageFile[] {
  if (!existsSync(join(folder, 'index.html'))) return [];
  const read = (path: string): Buffer | undefined =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : undefined;
  return globSync('**/*.*', { cwd: folder }).flatMap((found) => {
    const path = found.replaceAll('\\', '/');
    const contentType = contentTypes[extname(path)];
    if (contentType === undefined) return [];
    const plain = readFileSync(join(folder, path));
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    return [{ path, contentType, etag, plain, brotli: read(`${path}.br`), gzip: read(`${path}.gz`) }];
  });
}
