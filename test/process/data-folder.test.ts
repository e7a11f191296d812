import { stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { runCommand, startProcess, type TestProcess } from '#test/start-process.ts';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

const configuration = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };
const suggestion = 'Set another one with --data or PARLEY_DATA';

let temporary: TemporaryFolder;

beforeAll(async () => {
  temporary = await openFolder();
});

afterAll(() => temporary[Symbol.asyncDispose]());

describe('a data folder', () => {
  it('is locked by one process, and a process after kill -9 continues with its data', async () => {
    const data = join(temporary.path, 'own', 'data');
    const start = () => startProcess({ configuration, flags: ['--data', data] });
    const pseudonym = async (node: TestProcess): Promise<string | undefined> => {
      expect((await node.chat('demo', { messages: hello })).status).toBe(200);
      await node.untilOutput(/"msg":"call"/);
      return /"user":"([0-9a-f]{12})"/.exec(node.output.stdout)?.[1];
    };
    await using first = await start();
    const rejected = await runCommand(['serve', '--port', '0'], { PARLEY_DATA: relative(process.cwd(), data) });
    const expected = `parley: the data folder ${data} is in use by another Parley. Stop that process, or set another folder with --data or PARLEY_DATA\n`;
    expect([rejected.code, rejected.stderr, rejected.stdout]).toEqual([1, expected, '']);
    await writeFile(join(temporary.path, 'parley.json'), JSON.stringify(configuration));
    expect((await runCommand(['check', join(temporary.path, 'parley.json')], { PARLEY_DATA: data })).code).toBe(0);
    const before = await pseudonym(first);
    first.kill('SIGKILL');
    await first.ended;
    await using successor = await start();
    expect(before).toBeDefined();
    expect(await pseudonym(successor)).toBe(before);
    for (const name of ['lock', 'secret', 'parley.db']) expect((await stat(join(data, name))).mode & 0o777).toBe(0o600);
  });

  it.runIf(process.platform === 'linux')('ends the process with code 1 if it cannot be created', async () => {
    const { code, stderr, stdout } = await runCommand(['serve', '--port', '0', '--data', '/proc/x']);
    const expected = `parley: the data folder /proc/x cannot be used: a folder cannot be created there. ${suggestion}\n`;
    expect([code, stderr, stdout]).toEqual([1, expected, '']);
  });
});
