import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { importCommand } from '#app/commands/import/import-command.ts';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { call, getError, read, send, startCluster } from '../admin/entries-cluster.ts';
import { fixture } from './support.ts';

const digest = (key: string) => createHash('sha256').update(key).digest('hex');

let database: TestDatabase;

beforeAll(async () => {
  database = await createFreshDatabase();
  const statements = await fixture('litellm-database.sql');
  await queryPostgres(
    database.url,
    statements.replaceAll(/SHA256\(([^)]+)\)/g, (_, key: string) => digest(key)),
  );
});

afterAll(() => database[Symbol.asyncDispose]());

const run = (url: string, isStrict = false) =>
  importCommand({ from: 'litellm', files: [], database: url, settings: undefined, isStrict });

it('imports teams, users, keys, and budgets of a LiteLLM database, and its clients keep their keys', async () => {
  const { text, lines, exitCode } = await run(database.url);
  const document = JSON.parse(text);
  const bobKey = `litellm_${digest('sk-of-bob').slice(0, 12)}`;
  expect(document).toEqual({
    projects: {
      search: { totals: { minute: 100_000 }, costLimit: { month: 100.5 }, reset: { dayOfMonth: 15 }, owners: ['ada'] },
      t2: { costLimit: { month: 10 } },
    },
    users: { 'key:bob': { totals: { maxParallel: 3 }, costLimit: { month: 20 } }, carol: { costLimit: { year: 7 } } },
    keys: {
      'search-key': {
        ...{ project: 'search', name: 'search-key', sha256: digest('sk-of-search'), deployments: ['file'] },
        ...{ totals: { requestMinute: 60 }, costLimit: { week: 5 }, expiresAt: '2099-01-01T12:00:00.000Z' },
      },
      [bobKey]: { project: 'bob', sha256: digest('sk-of-bob'), costLimit: { day: 1 } },
      plain: { project: 'plain', name: 'plain', sha256: digest('sk-plain'), deployments: ['file'], disabled: true },
    },
  });
  expect(exitCode).toBe(0);
  expect(lines.flatMap((line) => line.split('. ')).toSorted()).toEqual([
    'Add the models to `deployments` of the key',
    'Check `costLimit`',
    'Check `costLimit`',
    'Create a new key for its clients',
    'LiteLLM_TeamTable.t2.max_budget: has the period 10d, and becomes a budget for each month',
    'LiteLLM_UserTable.carol.max_budget: has no period, and becomes a budget for each year, which can allow more',
    'LiteLLM_VerificationToken.broken: is not imported: LiteLLM does not store its SHA-256 digest',
    'LiteLLM_VerificationToken.expired: is not imported: it has expired',
    'LiteLLM_VerificationToken.plain.models: has patterns that are not imported',
    'LiteLLM_VerificationToken.search-key.model_max_budget: is not imported: Parley limits the cost of all models together',
    'LiteLLM_VerificationToken.search-key.soft_budget: is not imported: it only sends alerts',
    'LiteLLM_VerificationToken.spend: is not imported: limits count from 0',
  ]);
  await using cluster = await startCluster();
  const [node] = cluster.nodes;
  expect(read(await send(node, 'POST', 'apply', document)).data).toHaveLength(7);
  expect(getError(await call(node, 'file', 'sk-plain')).status).toBe(401);
  // A minute can end between the call and the reading.
  await vi.waitFor(async () => {
    expect((await call(node, 'file', 'sk-of-search')).status).toBe(200);
    expect(read(await send(node, 'GET', 'keys/search-key/usage')).data).toMatchObject([
      { window: 'requests.minute', limit: 60, used: expect.toSatisfy((used) => used > 0) },
      { window: 'cost.week', limit: 5 },
    ]);
  });
});

it('fails with --strict if a setting is lost, and without LiteLLM tables', async () => {
  expect((await run(database.url, true)).exitCode).toBe(1);
  await using empty = await createFreshDatabase();
  const { exitCode, text, lines } = await run(empty.url);
  expect([exitCode, text]).toEqual([1, '']);
  expect(lines.join()).toContain('is not a database of LiteLLM');
  const refused = await run('postgres://user:a-secret@127.0.0.1:1/litellm');
  expect(refused.lines.join()).toMatch(/cannot be read/);
  expect(refused.lines.join()).not.toContain('a-secret');
});

it.each([
  ['its own models, if its team has no list', '{a,b}', '{}', ['a', 'b']],
  ['the models of its team, if it has no list', '{}', '{a}', ['a']],
  ['the models of its team, if its list is all-team-models', '{all-team-models}', '{a}', ['a']],
  ['the models of its team, if its list allows all', '{all-proxy-models}', '{a}', ['a']],
  ['only models in both lists', '{a,b}', '{a,c}', ['a']],
  ['its own models that a pattern of its team allows', '{openai/a,other/b}', '{openai/*}', ['openai/a']],
  ['no model without a common one', '{a}', '{b}', []],
  ['no model, if its list is no-default-models', '{no-default-models}', '{a}', []],
  ['all models, if no list restricts it', '{}', '{all-proxy-models}', undefined],
])('gives a key %s, for a key of a team and of a user', async (_what, keyModels, holderModels, expected) => {
  await using other = await createFreshDatabase();
  await queryPostgres(other.url, (await fixture('litellm-database.sql')).split('insert into', 1)[0] ?? '');
  const insertKey = 'insert into "LiteLLM_VerificationToken" (token, key_alias, models, user_id, team_id) values';
  for (const statement of [
    `insert into "LiteLLM_TeamTable" (team_id, team_alias, models) values ('t', 'team', '${holderModels}')`,
    `insert into "LiteLLM_UserTable" (user_id, models) values ('ada', '${holderModels}')`,
    `${insertKey} ('${digest('sk-1')}', 'of-team', '${keyModels}', 'ada', 't')`,
    `${insertKey} ('${digest('sk-2')}', 'of-user', '${keyModels}', 'ada', null)`,
  ])
    await queryPostgres(other.url, statement);
  const { keys } = JSON.parse((await run(other.url)).text);
  expect([keys['of-team'].deployments, keys['of-user'].deployments]).toEqual([expected, expected]);
});

it('reports limits of keys and teams that Parley lacks', async () => {
  await using other = await createFreshDatabase();
  await queryPostgres(other.url, (await fixture('litellm-database.sql')).split('insert into', 1)[0] ?? '');
  await queryPostgres(
    other.url,
    `alter table "LiteLLM_TeamTable" add column metadata jsonb default '{"team_member_budget_id": "b"}'`,
  );
  await queryPostgres(
    other.url,
    `insert into "LiteLLM_TeamTable" (team_id, team_alias, models) values ('t', 'narrow-team', '{}')`,
  );
  await queryPostgres(
    other.url,
    `insert into "LiteLLM_VerificationToken" (token, key_alias, models, allowed_routes, metadata) values
      ('${digest('sk-1')}', 'narrow', '{}', '{llm_api_routes}', '{"model_rpm_limit": {"a": 1}, "model_tpm_limit": {}, "note": "x"}')`,
  );
  expect((await run(other.url, true)).lines.filter((line) => line.includes('narrow'))).toEqual([
    'LiteLLM_TeamTable.narrow-team.metadata.team_member_budget_id: is not imported: Parley has no budgets of members within a team',
    'LiteLLM_VerificationToken.narrow.allowed_routes: is not imported: Parley has no routes of keys',
    'LiteLLM_VerificationToken.narrow.metadata.model_rpm_limit: is not imported: Parley limits all models of a key together',
  ]);
});

it('gives keys without a team no project of a team, because all keys of a project have the same user', async () => {
  await using other = await createFreshDatabase();
  await queryPostgres(other.url, (await fixture('litellm-database.sql')).split('insert into', 1)[0] ?? '');
  const insertKey = `insert into "LiteLLM_VerificationToken" (token, models, user_id, team_id) values`;
  await queryPostgres(
    other.url,
    `insert into "LiteLLM_TeamTable" (team_id, team_alias, models) values ('t1', 'eve', '{}'), ('t2', 't3', '{}'), ('t3', 't3', '{}');
    insert into "LiteLLM_UserTable" (user_id, max_budget, budget_duration) values ('eve', 1, '1d');
    ${insertKey} ('${digest('sk-1')}', '{}', 'ada', 't1'), ('${digest('sk-2')}', '{}', 'eve', null), ('${digest('sk-3')}', '{}', 'ada', 't2'), ('${digest('sk-4')}', '{}', 'ada', 't3')`,
  );
  const { keys, users } = JSON.parse((await run(other.url)).text);
  const projects = Object.values<{ project: string }>(keys).map(({ project }) => project);
  expect(projects.toSorted()).toEqual(['eve', 't3', 't3 t3', 'user eve']);
  expect(users).toEqual({ 'key:user eve': { costLimit: { day: 1 } } });
});
