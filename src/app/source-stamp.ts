import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Where the built service has the stamp of what it was built from. */
export const stampFile = '.stamp';

const isSource = (name: string): boolean => /\.[jt]s$/.test(name) && !name.includes('.test.');

/** What tells the sources of the service apart from any others: names and contents of all files that are built, and the versions of the packages. */
export function stampOfSources(root: string): string {
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(isSource);
  const hash = createHash('sha256');
  let held = Buffer.allocUnsafe(64 * 1024);
  // Every start does this: one buffer for all files keeps it out of the memory at rest.
  for (const name of ['package.json', 'package-lock.json', ...names.sort().map((each) => join('src', each))]) {
    const file = openSync(join(root, name), 'r');
    const { size } = fstatSync(file);
    if (size > held.length) held = Buffer.allocUnsafe(size);
    const length = readSync(file, held, 0, size, 0);
    closeSync(file);
    hash.update(`${name}\0${length}\0`).update(held.subarray(0, length));
  }
  return hash.digest('hex');
}
