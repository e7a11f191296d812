import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSecretFile } from './load.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-secret-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(content: string | Buffer) {
  const file = join(folder, 'secret');
  writeFileSync(file, content);
  return readSecretFile(file);
}

describe('readSecretFile', () => {
  it.each([
    ['x\n', 'x'],
    ['x\r\n', 'x'],
    ['x', 'x'],
    ['x\n\n', 'x\n'],
    [' x ', ' x '],
  ])('reads %j as %j', (content, text) => {
    expect(read(content)).toEqual({ text });
  });

  it('reports files that do not contain a secret', () => {
    expect(read('\n')).toEqual({ error: 'is empty' });
    expect(read(Buffer.from([0xff, 0xfe]))).toEqual({ error: 'is not UTF-8 text' });
    expect(read('x'.repeat(65_537))).toEqual({ error: 'has more than 65536 bytes' });
    expect(readSecretFile(join(folder, 'gone'))).toEqual({ error: 'does not exist' });
    expect(readSecretFile(folder)).toEqual({ error: 'is not a regular file' });
    expect(readSecretFile('secrets/x')).toEqual({ error: 'is not an absolute path' });
  });
});
