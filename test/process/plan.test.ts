import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runProgram } from '#test/start-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function plan(...flags: readonly string[]) {
  return runProgram([process.execPath, join(root, 'bench/plan.ts'), ...flags]);
}

describe('npm run plan', () => {
  it('prints the example of docs/scale.md', async () => {
    const guide = await readFile(join(root, 'docs/scale.md'), 'utf8');
    const [, flags = '', output] = /```sh\nnpm run plan -- (.+)\n```\n\n```\n(.+?)```/s.exec(guide) ?? [];
    expect(await plan(...flags.split(' '))).toMatchObject({ code: 0, stdout: output, stderr: '' });
  });

  it('plans no more workers on one node than the load needs', async () => {
    const { stdout } = await plan('--calls-per-second', '100', '--workers', '4');
    expect(stdout).toMatch(/^Workers {15}1 at/m);
    expect(stdout).toMatch(/^Nodes {17}1 with 1 worker and 1 core$/m);
  });

  it('rejects an invalid number with the name of its option', async () => {
    const { code, stderr } = await plan('--streams', 'many');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--streams must be a number of at least 0')]);
  });
});
