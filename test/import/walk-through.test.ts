import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { freshDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
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

it('the SQL statement of docs/coming-from.md exports LiteLLM keys that are active and unrestricted', async () => {
  await using database = await freshDatabase();
  await queryPostgres(
    database.url,
    'create table "LiteLLM_VerificationToken" (token text, key_alias text, user_id text, team_id text, expires timestamp(3), models text[], blocked boolean)',
  );
  const statement = extract(/keys\.json <<'EOF'\n([\s\S]+?)\nEOF/);
  const keysNow = async (): Promise<unknown> => Object.values((await queryPostgres(database.url, statement))[0] ?? {})[0];
  expect(await keysNow()).toEqual({ keys: {} });
  const digest = hash('sha256', 'sk-issued-long-ago', 'hex');
  const rows = [
    `('${digest}', 'desk', 'ada', 'library', null, '{}', null)`,
    `('${digest.replace(/^./, 'f')}', null, 'ben', null, now() at time zone 'utc' + interval '1 hour', null, false)`,
    `('expired', 'expired', 'ada', null, now() at time zone 'utc' - interval '1 hour', '{}', null)`,
    `('blocked', 'blocked', 'ada', null, null, '{}', true)`,
    `('bound', 'bound', 'ada', null, null, '{gpt}', false)`,
  ];
  await queryPostgres(database.url, `insert into "LiteLLM_VerificationToken" values ${rows.join(', ')}`);
  const keys = (await keysNow()) as { keys: Record<string, { expiresAt?: string }> };
  const { expiresAt } = keys.keys[`f${digest.slice(1, 12)}`] ?? {};
  expect(Date.parse(expiresAt ?? '') - Date.now()).toBeGreaterThan(59 * 60_000);
  expect(Date.parse(expiresAt ?? '') - Date.now()).toBeLessThan(61 * 60_000);
  expect(keys).toEqual({
    keys: {
      desk: { project: 'library', sha256: digest },
      [`f${digest.slice(1, 12)}`]: { project: 'ben', sha256: `f${digest.slice(1)}`, expiresAt },
    },
  });
  await using service = await startProcess({ configuration: keys as object });
  const { status } = await service.sendRequest({
    method: 'GET',
    path: '/v1/user/info',
    headers: { 'Api-Key': 'sk-issued-long-ago' },
  });
  expect(status).toBe(200);
});
