import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { runCommand, startProcess } from '#test/start-process.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/coming-from.md'), 'utf8');

/** Returns the first group of the pattern in the documentation page. */
function extract(pattern: RegExp): string {
  return pattern.exec(page)?.[1] ?? expect.unreachable(String(pattern));
}

it('the walk-through of docs/coming-from.md produces the documented output', async () => {
  await using folder = await makeFolder();
  const source = await folder.write('aidial.config.json', extract(/aidial\.config\.json <<'EOF'\n([\s\S]+?)\nEOF/));
  const imported = await runCommand(['import', 'dial', source]);
  const normalize = (text: string) => text.replaceAll(`${folder.path}/`, '').trim();
  expect([imported.code, normalize(imported.stderr)]).toEqual([0, extract(/# (aidial\.config\.json:\d+: .+)/)]);
  const result = await folder.write('parley.json', imported.stdout);
  const checkResult = await runCommand(['check', result]);
  expect([checkResult.code, normalize(checkResult.stdout)]).toEqual([0, extract(/# (parley\.json: no errors.+)/)]);
  await using service = await startProcess({ configuration: JSON.parse(imported.stdout) });
  const { text } = await service.sendRequest({
    method: 'GET',
    path: '/v1/user/info',
    headers: { 'Api-Key': extract(/'Api-Key: (.+?)'/) },
  });
  expect(text).toBe(extract(/# (\{"user".+)/));
});
