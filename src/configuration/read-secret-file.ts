import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ReadSecretFile } from './substitute.ts';

/** A secret is shorter, also a service account of Google or a chain of certificates. */
const maxBytes = 65_536;

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist'],
  ['EACCES', 'this process may not read'],
  ['EPERM', 'this process may not read'],
]);

/** Reads a file that holds one secret, such as `/run/secrets/openai`. One trailing line break is not part of it. */
export const readSecretFile: ReadSecretFile = (path) => {
  if (!isAbsolute(path)) return { fault: 'is not an absolute path' };
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { fault: 'is not a regular file' };
    if (stats.size > maxBytes) return { fault: `has more than ${maxBytes} bytes` };
    const bytes = readFileSync(path);
    if (!isUtf8(bytes)) return { fault: 'is not UTF-8 text' };
    const text = bytes.toString('utf8').replace(/\r?\n$/, '');
    return text === '' ? { fault: 'is empty' } : { text };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    return { fault: reasons.get(code) ?? `cannot be read (${code})` };
  }
};
