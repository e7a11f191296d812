import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand, startProcess } from '#test/start-process.ts';
import { makeFolder } from '../configuration/support.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/coming-from.md'), 'utf8');

/** What stands behind a word of the page, up to the end of the line or of the text in it. */
function found(pattern: RegExp): string {
  return pattern.exec(page)?.[1] ?? expect.unreachable(String(pattern));
}

it('the walk-through of the page comes to what the page says', async () => {
  await using folder = await makeFolder();
  const source = await folder.write('aidial.config.json', found(/aidial\.config\.json <<'EOF'\n([\s\S]+?)\nEOF/));
  const imported = await runCommand(['import', 'dial', source]);
  const said = (text: string) => text.replaceAll(`${folder.path}/`, '').trim();
  expect([imported.code, said(imported.stderr)]).toEqual([0, found(/# (aidial\.config\.json:\d+: .+)/)]);
  const result = await folder.write('parley.json', imported.stdout);
  const checked = await runCommand(['check', result]);
  expect([checked.code, said(checked.stdout)]).toEqual([0, found(/# (parley\.json: no faults.+)/)]);
  await using service = await startProcess({ configuration: JSON.parse(imported.stdout) });
  const { text } = await service.ask({ method: 'GET', path: '/v1/user/info', headers: { 'Api-Key': found(/'Api-Key: (.+?)'/) } });
  expect(text).toBe(found(/# (\{"user".+)/));
});
