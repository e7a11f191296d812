import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { OAuth2Server } from 'oauth2-mock-server';
import { queryPostgres } from '#test/query-postgres.ts';
import { sendRequest } from '#test/send-request.ts';
import { startProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';
import type { RecordedAnswer, UpgradeFixture } from '../test/upgrade/fixture.ts';

const help = `Stores data of every kind with a released version. Writes the data and the answers of that version to a fixture in
test/upgrade. Run it once for each release, with the bin/parley of its built checkout.

  node scripts/make-upgrade-fixture.ts --program ../parley-0.1.0/bin/parley --out test/upgrade/0.1.0-sqlite.json.gz
  node scripts/make-upgrade-fixture.ts --program … --out test/upgrade/0.1.0-postgres.json.gz --database URL

With --database, the data goes to this empty PostgreSQL database. pg_dump must be in PATH and support the version of the server.`;

const farFutureMs = Date.UTC(2100, 0);
/** Tables whose rows expire. A fixture must be readable in all years. */
const expiringTables = ['responses', 'chat_shares', 'api_keys'];
const userKey = 'upgrade-key';
const secret = 'secret-of-the-upgrade-fixture-0123456789';
const unusualName = encodeURIComponent('Größe #1.txt');
const quickApp = 'https://parley.test/custom_application_schemas/quickapps';

const { program, out, database } = parseArgs({
  options: { program: { type: 'string' }, out: { type: 'string' }, database: { type: 'string' } },
}).values;
if (program === undefined || out === undefined) {
  console.error(help);
  process.exit(2);
}

await using folder = await openFolder();
const identity = new OAuth2Server();
await identity.issuer.keys.generate('RS256');
await identity.start(0, '127.0.0.1');
const issuer = String(identity.issuer.url);

const configuration = {
  models: {
    demo: { upstreams: [{ protocol: 'demo' }], pricing: { prompt: 0.001, completion: 0.002 } },
    guarded: { upstreams: [{ protocol: 'demo' }], features: { consentRequired: true } },
  },
  keys: { [userKey]: { project: 'upgrade', role: 'admin' } },
  roles: { default: { selfService: { keys: 3, maxDays: 365 } } },
  identityProviders: { corporate: { issuer, jwksUrl: `${issuer}/jwks`, audience: 'parley' } },
};
const environment = database === undefined ? {} : { PARLEY_DATABASE_URL: database, PARLEY_SECRET: secret };
const start = () =>
  startProcess({ configuration, environment, program: String(program), flags: ['--data', join(folder.path, 'data')] });

/** Sends a request, and throws if it fails. */
async function send(url: string, [method, path, body]: [method: string, path: string, body?: unknown], key = userKey) {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': type }) };
  const response = await sendRequest(url, { method, path, headers, body });
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
  // biome-ignore lint/suspicious/noExplicitAny: Answers of several versions are not typed.
  return response.text.startsWith('{') ? (response.json as any) : response.text;
}

async function wait(url: string, path: string): Promise<void> {
  while (/queued|in_progress/.test((await send(url, ['GET', path])).status))
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Stores data of every kind. Returns the requests that read it, each with its key. */
async function store(url: string): Promise<readonly (readonly [key: string, path: string])[]> {
  const { bucket } = await send(url, ['GET', '/v1/bucket']);
  await send(url, ['PUT', `/v1/files/${bucket}/notes/handbook.md`, '# Vacation\n\nEmployees get 30 days of vacation a year.\n']);
  await send(url, ['PUT', `/v1/files/${bucket}/${unusualName}`, 'A file with an unusual name']);
  await send(url, [
    'PUT',
    `/v1/prompts/${bucket}/hello`,
    { id: 'p', name: 'hello', folderId: `prompts/${bucket}`, content: 'Say hello' },
  ]);
  const conversation = {
    id: 'c',
    name: 'talk',
    folderId: `conversations/${bucket}`,
    model: { id: 'demo' },
    prompt: '',
    temperature: 1,
  };
  const legacyFields = { messages: [{ role: 'user', content: 'Hello' }], selectedAddons: [], assistantModelId: 'demo' };
  await send(url, ['PUT', `/v1/conversations/${bucket}/talk`, { ...conversation, ...legacyFields }]);

  const createApp = (instructions: string) => ({
    displayName: 'Handbook',
    description: 'Answers questions about vacation',
    userRoles: ['staff', 'default'],
    applicationTypeSchemaId: quickApp,
    applicationProperties: {
      ...{ temperature: 0, instructions, model: 'demo', starters: ['How many days of vacation?'] },
      document_relative_url: [`files/${bucket}/notes/handbook.md`],
      // The key is sealed. No server listens at this URL, so the application works without its tools.
      mcp_toolset: [
        {
          ...{ type: 'mcp', name: 'Library' },
          mcp_server_info: {
            ...{ url: 'https://127.0.0.1:9/mcp', protocol: 'streamable_http' },
            authorization: { type: 'api_key', name: 'Api-Key', key: 'sealed' },
          },
        },
      ],
    },
  });
  for (const text of ['Be kind.', 'Be brief.'])
    await send(url, ['PUT', `/v1/applications/${bucket}/Hand%20Book`, createApp(text)]);
  const id = encodeURIComponent(`applications/${bucket}/Hand%20Book`);
  const question = { messages: [{ role: 'user', content: 'How many days of vacation do employees get?' }] };
  await send(url, ['POST', '/v1/chat/completions', { ...question, model: `applications/${bucket}/Hand%20Book` }]);

  const { consent } = await send(url, ['GET', '/v1/consent/guarded']);
  await send(url, ['POST', '/v1/consent/guarded', { consent }]);

  const turns = [
    {
      id: 'q',
      parent: '',
      kind: 'question',
      atMs: 1,
      text: 'Where is Oslo?',
      attachments: [{ url: `files/${bucket}/notes/handbook.md` }],
    },
    {
      id: 'r',
      parent: 'q',
      kind: 'reply',
      atMs: 2,
      text: 'In Norway.',
      state: 'done',
      deployment: 'demo',
      custom: {},
      stageTimes: {},
    },
  ];
  await send(url, [
    'POST',
    '/v1/chats/trip',
    { title: 'Trip', tags: ['travel'], deployment: 'demo', settings: { temperature: 0 }, turns },
  ]);
  await send(url, ['POST', '/v1/chats/trip', { shown: { q: 'r' }, ratings: { r: { rate: true } } }]);
  await send(url, ['POST', '/v1/chats/old', { title: 'Old', archived: true, turns: turns.slice(0, 1) }]);
  const { token } = await send(url, ['POST', '/v1/chats/trip/shares', {}]);
  await send(url, ['POST', '/v1/demo/rate', { rate: true, comment: 'Good', responseId: 'r' }]);

  const createResponse = (body: object) => send(url, ['POST', '/v1/responses', { model: 'demo', ...body }]);
  const { id: conversationId } = await send(url, [
    'POST',
    '/v1/conversations',
    { metadata: { topic: 'upgrade' }, items: [{ type: 'message', role: 'user', content: 'Hello' }] },
  ]);
  const first = await createResponse({ input: 'Hello', metadata: { turn: '1' } });
  const second = await createResponse({ input: 'How are you?', previous_response_id: first.id });
  await createResponse({ input: 'Hello again', conversation: conversationId });
  const background = await createResponse({ input: 'Hello', background: true, max_output_tokens: 5 });
  await wait(url, `/v1/responses/${background.id}`);

  const cases = [
    { name: 'days', input: 'How many days of vacation do employees get?', checks: [{ type: 'contains', text: '30' }] },
  ];
  await send(url, ['POST', `/v1/cases/applications/${bucket}/Hand%20Book`, cases]);
  const evaluation = await send(url, ['POST', `/v1/evaluations/applications/${bucket}/Hand%20Book`, {}]);
  await wait(url, `/v1/evaluations/${evaluation.id}`);

  const userToken = await identity.issuer.buildToken({
    scopesOrTransform: (_header, payload) => Object.assign(payload, { sub: 'ada', aud: 'parley' }),
  });
  const { key: adaKey } = await send(url, ['POST', '/v1/user/keys', { name: 'laptop', allowedIps: ['127.0.0.0/8'] }], userToken);
  await send(url, ['POST', '/v1/chat/completions', { ...question, model: 'demo' }], adaKey);

  const day = new Date().toISOString().slice(0, 10);
  const days = `from=${day}&to=${day}`;
  const paths = [
    ...['notes/handbook.md', unusualName].map((name) => `/v1/files/${bucket}/${name}`),
    ...[`/v1/metadata/files/${bucket}/?recursive=true`, `/v1/prompts/${bucket}/hello`, `/v1/conversations/${bucket}/talk`],
    ...[
      `/v1/applications/${bucket}/Hand%20Book`,
      `/v1/versions/applications/${bucket}/Hand%20Book`,
      `/v1/applications/${bucket}`,
    ],
    ...['/v1/consent', '/v1/consent/guarded'],
    ...['/v1/chats', '/v1/chats?archived=true', '/v1/chats?query=Norway', '/v1/chats/trip', '/v1/chats/old'],
    ...['/v1/chat-shares', `/v1/shared-chats/${token}`],
    ...[first, second, background].flatMap(({ id }) => [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`]),
    ...[`/v1/conversations/${conversationId}`, `/v1/conversations/${conversationId}/items`, '/v1/user/responses'],
    ...[`/v1/cases/applications/${bucket}/Hand%20Book`, `/v1/evaluations/applications/${bucket}/Hand%20Book`],
    `/v1/evaluations/${evaluation.id}`,
    ...[`/v1/deployments/${id}/configuration`, `/v1/deployments/${id}/documents`],
    ...[`/v1/admin/usage?${days}&by=day,deployment,user,project`, `/v1/admin/calls?${days}`, `/v1/user/usage?${days}`],
    ...['application', 'chat', 'consent', 'deployment', 'key'].map((kind) => `/v1/admin/audit?kind=${kind}`),
  ];
  const adaPaths = ['/v1/user/info', `/v1/user/calls?${days}`];
  return [...paths.map((path) => [userKey, path] as const), ...adaPaths.map((path) => [adaKey, path] as const)];
}

async function runSql(statement: string): Promise<void> {
  if (database !== undefined) return void (await queryPostgres(database, statement));
  const sqlite = new DatabaseSync(join(folder.path, 'data/parley.db'));
  sqlite.exec(statement);
  sqlite.close();
}

async function stop(node: Awaited<ReturnType<typeof start>>): Promise<void> {
  node.kill('SIGTERM');
  await node.ended;
}

async function record(): Promise<readonly RecordedAnswer[]> {
  await using node = await start();
  const requests = await store(node.url);
  await stop(node);
  for (const table of expiringTables) await runSql(`update ${table} set expires_at_ms = ${farFutureMs}`);
  await using restartedNode = await start();
  const answers: RecordedAnswer[] = [];
  for (const [key, path] of requests) {
    const body: unknown = await send(restartedNode.url, ['GET', path], key);
    answers.push({ key, path, body });
  }
  await stop(restartedNode);
  return answers;
}

const answers = await record();
await identity.stop();
// After an orderly stop, the data folder contains no write-ahead log.
const data = join(folder.path, 'data');
const entries = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const toPath = ({ parentPath, name }: { parentPath: string; name: string }) => join(parentPath, name);
const files = Object.fromEntries(
  entries.map((entry) => [toPath(entry).slice(data.length + 1), readFileSync(toPath(entry)).toString('base64')]),
);
const dump =
  database === undefined
    ? undefined
    : execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', database], { encoding: 'utf8' }).replaceAll(
        /^\\.*$/gm,
        '',
      );
const fixture: UpgradeFixture = { configuration, secret: database && secret, files, dump, answers };
writeFileSync(out, gzipSync(JSON.stringify(fixture, null, 1), { level: 9 }));
console.log(`${out}: ${answers.length} answers, ${Object.keys(files).length} files`);
