import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type ProcessEnd, startProcess, type TestProcess } from '#test/start-process.ts';
import { startRedis, type TestRedis } from '#test/start-redis.ts';
import { getApplicationPath, quickApp } from '../applications/support.ts';
import { type Issuer, startIssuer } from '../identity/support.ts';
import { answerAll, contents, createCanary, createConfiguration, createTools, secrets } from './canary-world.ts';

let host: ScriptedUpstream;
let redis: TestRedis;
let issuer: Issuer;
let folder: string;
let node: TestProcess;
let ended: ProcessEnd;
let jwt: string;
/** Per-request keys that applications received. */
const perRequestKeys = new Set<string>();
const answers: { readonly what: string; readonly text: string }[] = [];
/** Telemetry that the OpenTelemetry collector received. */
const exported: string[] = [];

const json = { 'content-type': 'application/json' };

async function send(
  what: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> {
  const all = { 'api-key': secrets['caller key'], ...(body !== undefined && json), ...headers };
  const answered = await node.sendRequest({ method, path, headers: all, body });
  answers.push({ what: `${what}: ${method} ${path}`, text: `${JSON.stringify(answered.headers)} ${answered.text}` });
  return answered;
}

function chat(what: string, deployment: string, words: string, more: object = {}): Promise<TestResponse> {
  const messages = [{ role: 'user', content: `${contents.message} ${words}` }];
  return send(what, 'POST', `/openai/deployments/${deployment}/chat/completions`, { messages, ...more });
}

async function runTraffic(): Promise<void> {
  const bucket = getBucket('key:test');
  for (const words of ['', 'do: refuse', 'do: fail', 'do: break'])
    for (const deployment of ['bad', 'claude', 'app', 'vectors', 'nothing'])
      for (const stream of [false, true]) await chat('a chat', deployment, words, { stream });
  for (const stream of [false, true]) await chat('a chat that fails midway', 'late', 'do: late', { stream });
  const late = { model: 'late', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'do: late' }] };
  await send('a message that fails midway', 'POST', '/msgapi/v1/messages', late);
  await send('embeddings', 'POST', '/v1/embeddings', { model: 'vectors', input: contents.message });
  for (const model of ['bad', 'claude', 'app']) {
    const body = { model, max_tokens: 5, messages: [{ role: 'user', content: `${contents.message} do: refuse` }] };
    await send('a message', 'POST', '/msgapi/v1/messages', body);
    await send('a message through the gateway', 'POST', '/addin/msgapi/v1/messages', body, {
      'x-api-key': secrets['caller key'],
      origin: 'https://a.test',
    });
  }
  await chat('tools', 'quick', 'use them');
  await chat('an addon', 'gpt', 'use it', { addons: [{ name: 'addon' }] });
  const saved = createTools(host.url, {
    header: secrets['saved rest'],
    basic: secrets['saved basic'],
    bearer: secrets['saved bearer'],
    client: secrets['saved client secret'],
    mcp: secrets['saved mcp'],
  });
  const path = getApplicationPath('mine', bucket);
  await send('saving', 'PUT', path, quickApp({ model: 'gpt', ...saved }));
  await send('a faulty saving', 'PUT', path, quickApp({ model: 'none', ...saved, temperature: 7 }));
  await send('showing', 'GET', path);
  await send('listing', 'GET', `/v1/applications/${bucket}/`);
  await chat('tools of a saved application', `applications/${bucket}/mine`, 'use them');
  await send('a file', 'PUT', `/v1/files/${bucket}/a.txt`, contents.file, { 'content-type': 'text/plain' });
  await send('a file', 'GET', `/v1/metadata/files/${bucket}/a.txt`);
  const { json: form } = await send('a consent', 'GET', '/v1/consent/app');
  await send('a consent', 'POST', '/v1/consent/app', { consent: (form as { consent: object }).consent });
  for (const listed of [
    '/openai/deployments',
    '/openai/applications',
    '/v1/models',
    '/v1/user/info',
    '/v1/deployments/gpt/limits',
    '/v1/consent',
  ])
    await send('a listing', 'GET', listed);
  const bearer = { 'api-key': '', authorization: `Bearer ${jwt}` };
  await send('a user', 'GET', '/v1/user/info', undefined, bearer);
  await send('a forged user', 'GET', '/v1/user/info', undefined, { ...bearer, authorization: `Bearer ${jwt}x` });
  await send('two keys', 'GET', '/v1/models', undefined, { authorization: `Bearer ${secrets['named key']}` });
  await send('an unknown key', 'GET', '/v1/models', undefined, { 'api-key': `${secrets['other key']}x` });
  await send('a key in the path', 'GET', `/v1/nothing/${secrets['other key']}?key=${secrets['other key']}`, undefined, {
    'x-request-id': secrets['other key'],
  });
  await send('no JSON', 'POST', '/v1/chat/completions', `{"model": "gpt", "messages": ${contents.message}`);
  await send('a faulty body', 'POST', '/v1/chat/completions', {
    model: 'gpt',
    messages: [{ role: contents.message, content: 5 }],
  });
  await send('importing', 'POST', '/v1/import-openapi', { url: `${host.url}/document` });
}

beforeAll(async () => {
  [host, issuer, redis] = await Promise.all([
    startScriptedUpstream((exchange) => answerAll(exchange, host.url, (key) => perRequestKeys.add(key))),
    startIssuer(),
    startRedis('--requirepass', secrets['redis password']),
  ]);
  await using collector = await startScriptedUpstream(({ received, response }) => {
    exported.push(received.text);
    response.writeHead(200, json).end('{}');
  });
  folder = await mkdtemp(join(tmpdir(), 'parley-canaries-'));
  jwt = await issuer.token({ email: secrets['token claim'] });
  const redisUrl = `redis://:${secrets['redis password']}@127.0.0.1:${redis.port}`;
  const environment = {
    LOG_LEVEL: 'debug',
    PARLEY_SECRET: `${secrets['parley secret']}${'x'.repeat(40)}`,
    PARLEY_REDIS_URL: redisUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  node = await startProcess({ configuration: createConfiguration(host.url, issuer), environment, flags: ['--data', folder] });
  await runTraffic();
  for (const path of ['/health', '/ready', '/metrics', '/openapi.json', '/docs']) await send('an operator', 'GET', path);
  await redis.stop();
  await chat('without Redis', 'app', 'anything');
  await chat('without Redis', 'gpt', 'anything');
  await send('without Redis', 'GET', '/health');
  node.kill('SIGTERM');
  ended = await node.ended;
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await Promise.all([host.close(), issuer.stop(), redis[Symbol.asyncDispose]()]);
  await rm(folder, { recursive: true, force: true });
});

/** Every secret by name, in each encoding that an output might contain. */
function listSpellings(): readonly (readonly [name: string, spelling: string])[] {
  const all = [
    ...Object.entries(secrets),
    ...[...perRequestKeys].map((key) => ['a per-request key', key] as const),
    ['the token', jwt] as const,
  ];
  return all.flatMap(([name, value]) => {
    const basic = Buffer.from(`user:${value}`).toString('base64');
    return [
      value,
      Buffer.from(value).toString('base64').replace(/=+$/, ''),
      basic.replace(/=+$/, ''),
      Buffer.from(value).toString('hex'),
    ].map((each) => [name, each] as const);
  });
}

/** Returns the names of the secrets in a text. */
function findSecrets(text: string): readonly string[] {
  return [
    ...new Set(
      listSpellings()
        .filter(([, spelling]) => text.includes(spelling))
        .map(([name]) => name),
    ),
  ];
}

function findContents(text: string): readonly string[] {
  return Object.entries(contents)
    .filter(([, value]) => text.includes(value))
    .map(([name]) => name);
}

async function listFiles(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe('secrets', () => {
  it('are sent to their destinations, so that answers could leak them', () => {
    const sent = host.requests.map(({ path, headers, text }) => `${path} ${JSON.stringify(headers)} ${text}`).join('\n');
    const unsentNames = ['caller key', 'named key', 'other key', 'redis password', 'parley secret', 'token claim', 'the token'];
    expect(findSecrets(sent).toSorted()).toEqual(
      [...new Set(listSpellings().map(([name]) => name))].filter((name) => !unsentNames.includes(name)).toSorted(),
    );
    expect(perRequestKeys.size).toBeGreaterThan(3);
  });

  it('are not in any answer or response header', () => {
    expect(answers.length).toBeGreaterThan(70);
    expect(answers.filter(({ text }) => text.includes('the key Bearer *** of *** is wrong')).length).toBeGreaterThan(4);
    // The client receives its own request ID unchanged.
    for (const { what, text } of answers.filter((each) => !each.what.startsWith('a key in the path')))
      expect([what, findSecrets(text)]).toEqual([what, []]);
  });

  it('are not in stdout and stderr at the log level debug', () => {
    const output = `${ended.stdout}${ended.stderr}`;
    // Messages of upstreams appear at this level and could contain a secret.
    expect(output).toContain('the key Bearer *** of ***');
    expect(output).toContain('"msg":"call"');
    expect(findSecrets(output)).toEqual([]);
  });

  it('are not in exported traces and metrics', () => {
    const sent = exported.join('\n');
    expect(sent).toContain('resourceSpans');
    expect(sent).toContain('resourceMetrics');
    expect(findSecrets(sent)).toEqual([]);
  });

  it('are not in files of the data folder', async () => {
    const files = await listFiles(folder);
    expect(files.some((file) => /\.db$|sqlite/.test(file))).toBe(true);
    for (const file of files) expect([file, findSecrets((await readFile(file)).toString('latin1'))]).toEqual([file, []]);
  });
});

describe('content of users and models', () => {
  it('is not in logs, traces, metrics, or databases', async () => {
    expect(findContents(`${ended.stdout}${ended.stderr}`)).toEqual([]);
    expect(findContents(exported.join('\n'))).toEqual([]);
    for (const file of (await listFiles(folder)).filter((each) => !each.startsWith(join(folder, 'files'))))
      expect([file, findContents((await readFile(file)).toString('latin1'))]).toEqual([file, []]);
  });

  it('is not in answers for operators', () => {
    const operatorAnswers = answers.filter(({ what }) => what.startsWith('an operator'));
    expect(operatorAnswers.flatMap(({ text }) => findContents(text))).toEqual([]);
  });
});

describe('URL with a password', () => {
  it.each([
    ['PARLEY_REDIS_URL', `redis://user:${createCanary('password')}@127.0.0.1:1`],
    ['PARLEY_REDIS_URL', `redis//user:${createCanary('password')}@`],
    ['PARLEY_DATABASE_URL', `postgres://user:${createCanary('password')}@127.0.0.1:1/db`],
    ['PARLEY_DATABASE_URL', `mysql://user:${createCanary('password')}@127.0.0.1:1/db`],
    ['PARLEY_FILES_URL', `s3://bucket/a?endpoint=http://127.0.0.1:1&accessKeyId=id&secretAccessKey=${createCanary('password')}`],
    ['PARLEY_FILES_URL', `s3://user:${createCanary('password')}@bucket/a`],
  ])('is not shown, whether it is valid or not: %s=%s', async (name, value) => {
    const environment = { [name]: value, PARLEY_SECRET: 'x'.repeat(40), LOG_LEVEL: 'debug' };
    let output = '';
    try {
      await using started = await startProcess({
        configuration: { applications: { app: { endpoint: 'http://127.0.0.1:1' } } },
        environment,
      });
      const operatorAnswers = await started.sendRequest({ method: 'GET', path: '/health' });
      started.kill('SIGTERM');
      const { stdout, stderr } = await started.ended;
      output = `${operatorAnswers.text}${stdout}${stderr}`;
    } catch (error) {
      output = String(error);
    }
    expect(output.length).toBeGreaterThan(20);
    expect(output).not.toContain(createCanary('password'));
  });
});
