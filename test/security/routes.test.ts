import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PassThroughApi, passThrough, passThroughApis } from '#contract/pass-through.ts';
import { getBucket } from '#test/buckets.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { type Answering, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestRequest, TestResponse } from '#test/send-request.ts';
import { chatPath } from '#test/start-service.ts';
import { pathOf, quickApp } from '../applications/support.ts';
import { entryOf, type Issuer, startIssuer } from '../identity/support.ts';
import { formType, sound, toForm } from '../passthrough/support.ts';
import { startWhole, type WholeService } from './support.ts';

/**
 * Who asks. `owner` owns what is asked for and has the roles `staff` and `admin`; `chain` and `ended` hold per-request keys of calls of the
 * owner, one under way, one over; `user` comes with a token of an identity provider and has the role; `stranger` has a key of
 * another project and the role; `roleless` one without the role.
 */
const callers = ['nobody', 'unknown', 'owner', 'roleless', 'user', 'chain', 'ended', 'stranger'] as const;
type CallerKind = (typeof callers)[number];

/** A status, and the code of the error where there is one; the type where the dialect has no codes. */
type Told = number | `${number} ${string}`;

interface Row {
  /** As it was registered, with HEAD under GET, and the files of the page as one. */
  readonly route: string;
  readonly asking: (caller: CallerKind) => TestRequest;
  readonly told: Readonly<Record<CallerKind, Told>>;
}

const staffed = { userRoles: ['staff'] };
const ownerBucket = getBucket('key:owner');
/** What others must never be shown. */
const canary = 'canary-of-the-owner';

const denied = '403 access_denied';
const unknown = { nobody: '401 missing_credentials', unknown: '401 invalid_api_key', ended: '401 invalid_api_key' } as const;

/** Served to everyone, with a key or without. */
function open(status: Told): Row['told'] {
  return {
    nobody: status,
    unknown: status,
    owner: status,
    roleless: status,
    user: status,
    chain: status,
    ended: status,
    stranger: status,
  };
}

/** The same for everyone with a key or token, but for those who are named. */
function keyed(status: Told, others: Partial<Row['told']> = {}): Row['told'] {
  return { ...unknown, owner: status, roleless: status, user: status, chain: status, stranger: status, ...others };
}

/** What only the role opens. */
const byRole = keyed(200, { roleless: denied });
/** What only its owner has, and no application in the owner's place. */
const byOwner = (status: Told): Row['told'] => keyed(denied, { owner: status });
/** What is for users alone who sign in. */
const bySignedIn = (status: Told): Row['told'] => keyed(denied, { user: status });
const noKey = '404 key_not_found';
/** By role, in the messages dialect. */
const messagesByRole = keyed(200, {
  nobody: '401 authentication_error',
  unknown: '401 authentication_error',
  ended: '401 authentication_error',
  roleless: '403 permission_error',
});

const chat = { messages: hello };
const message = { model: 'model', max_tokens: 10, messages: hello };
const made = `applications/${ownerBucket}/made`;
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const callTool = { ...listTools, method: 'tools/call', params: { name: 'model', arguments: { query: 'Hello' } } };
const document = { openapi: '3.0.0', info: { title: 'x', version: '1' }, servers: [{ url: 'https://x.test' }], paths: {} };

const toolset = { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } };

const get = (path: string) => (): TestRequest => ({ method: 'GET', path });
const post = (path: string, body: unknown) => (): TestRequest => ({ path, body });
const put = (path: string, body: unknown) => (): TestRequest => ({ method: 'PUT', path, body });

const deploymentPaths = ['compat', 'openai'].flatMap((prefix): Row[] => {
  const base = `/${prefix}/deployments`;
  const version = prefix === 'compat' ? '/2024-10-21' : '';
  return [
    { route: `POST ${base}/*`, asking: post(`${base}/model/chat/completions${version}`, chat), told: byRole },
    { route: `POST ${base}/*`, asking: post(`${base}/vectors/embeddings${version}`, { input: 'x' }), told: byRole },
    {
      route: `POST ${base}/*`,
      asking: post(`${base}/${made}/chat/completions${version}`, chat),
      told: keyed(denied, { owner: 200, chain: 200 }),
    },
    {
      route: `POST ${base}/*`,
      asking: post(`${base}/none/chat/completions${version}`, chat),
      told: keyed('404 DeploymentNotFound'),
    },
    ...['addons', 'assistants'].map(
      (kind): Row => ({ route: `GET /${prefix}/${kind}`, asking: get(`/${prefix}/${kind}`), told: keyed(200) }),
    ),
    ...['deployments', 'models', 'applications'].flatMap((kind): Row[] => [
      { route: `GET /${prefix}/${kind}`, asking: get(`/${prefix}/${kind}`), told: keyed(200) },
      {
        route: `GET /${prefix}/${kind}/*`,
        asking: get(`/${prefix}/${kind}/${kind === 'applications' ? 'app' : 'model'}`),
        told: byRole,
      },
    ]),
    { route: `GET ${base}/*`, asking: get(`${base}/${made}`), told: keyed(denied, { owner: 200, chain: 200 }) },
  ];
});

/** With every field that one of them must have. */
function toPassThrough(path: string, api: PassThroughApi): Row['asking'] {
  if (passThrough[api].accepts !== 'form')
    return post(path, { model: 'other', prompt: 'x', input: 'x', voice: 'x', query: 'x', documents: ['x'] });
  const body = toForm({ name: 'model', value: 'other' }, sound);
  return () => ({ path, headers: { 'content-type': formType }, body });
}

/** Where clients of Azure's older API call the Responses surface. */
const azurePaths = ['', '/input_tokens', '/compact'].map((below): Row => {
  const path = `/openai/responses${below}`;
  return { route: `POST ${path}`, asking: post(path, { model: 'model', input: 'Hello' }), told: byRole };
});

const openAiPaths = ['/v1', '/openai/v1'].flatMap((base): Row[] => [
  { route: `POST ${base}/chat/completions`, asking: post(`${base}/chat/completions`, { model: 'model', ...chat }), told: byRole },
  {
    route: `POST ${base}/chat/completions`,
    asking: post(`${base}/chat/completions`, { model: 'none', ...chat }),
    told: keyed('404 model_not_found'),
  },
  { route: `POST ${base}/embeddings`, asking: post(`${base}/embeddings`, { model: 'vectors', input: 'x' }), told: byRole },
  ...passThroughApis.map(
    (api): Row => ({ route: `POST ${base}/${api}`, asking: toPassThrough(`${base}/${api}`, api), told: byRole }),
  ),
  ...['', '/input_tokens', '/compact'].map(
    (below): Row => ({
      route: `POST ${base}/responses${below}`,
      asking: post(`${base}/responses${below}`, { model: 'model', input: 'Hello' }),
      told: byRole,
    }),
  ),
  {
    route: `POST ${base}/responses`,
    asking: post(`${base}/responses`, { model: 'none', input: 'Hello' }),
    told: keyed('404 model_not_found'),
  },
  { route: `GET ${base}/responses`, asking: get(`${base}/responses`), told: open('405 method_not_allowed') },
  { route: `GET ${base}/models`, asking: get(`${base}/models`), told: keyed(200) },
  { route: `GET ${base}/models/*`, asking: get(`${base}/models/model`), told: byRole },
]);

const messagesPaths = ['msgapi', 'anthropic'].flatMap((prefix): Row[] => [
  { route: `POST /${prefix}/v1/messages`, asking: post(`/${prefix}/v1/messages`, message), told: messagesByRole },
  {
    route: `POST /${prefix}/v1/messages/count_tokens`,
    asking: post(`/${prefix}/v1/messages/count_tokens`, { model: 'model', messages: hello }),
    told: messagesByRole,
  },
]);

const records = {
  prompts: { id: 'p', folderId: 'f', name: canary, content: canary },
  conversations: { id: 'c', folderId: 'f', name: canary, messages: [] },
};

/** Within the owner's bucket; what is there is replaced. */
function move(kind: string, from: string, to: string): object {
  const base = `${kind}/${ownerBucket}`;
  return { sourceUrl: `${base}/${from}`, destinationUrl: `${base}/${to}`, overwrite: true };
}

const recordPaths = Object.entries(records).flatMap(([kind, record]): Row[] => [
  { route: `PUT /v1/${kind}/*`, asking: put(`/v1/${kind}/${ownerBucket}/kept`, record), told: byOwner(200) },
  { route: `GET /v1/${kind}/*`, asking: get(`/v1/${kind}/${ownerBucket}/kept`), told: byOwner(200) },
  {
    route: `DELETE /v1/${kind}/*`,
    asking: () => ({ method: 'DELETE', path: `/v1/${kind}/${ownerBucket}/doomed` }),
    told: byOwner(204),
  },
  { route: `GET /v1/metadata/${kind}/*`, asking: get(`/v1/metadata/${kind}/${ownerBucket}/kept`), told: byOwner(200) },
  { route: `GET /v1/metadata/${kind}/*`, asking: get(`/v1/metadata/${kind}/${ownerBucket}/`), told: byOwner(200) },
]);

const noRole = { roleless: '403 permission_error' } as const;

const noEvaluation = keyed('404 evaluation_not_found', { chain: denied });

const table: readonly Row[] = [
  ...deploymentPaths,
  ...messagesPaths,
  { route: 'GET /anthropic/v1/models', asking: get('/anthropic/v1/models'), told: { ...messagesByRole, roleless: 200 } },
  { route: 'GET /anthropic/v1/models/*', asking: get('/anthropic/v1/models/model'), told: { ...messagesByRole, ...noRole } },
  ...openAiPaths,
  ...azurePaths,
  {
    route: 'POST /openai/v1/deployments/*',
    asking: post('/openai/v1/deployments/model/chat/completions?api-version=preview', chat),
    told: byRole,
  },
  {
    route: 'POST /openai/v1/deployments/*',
    asking: post('/openai/v1/deployments/vectors/embeddings', { input: 'x' }),
    told: byRole,
  },
  { route: 'GET /v1/deployment-names', asking: get('/v1/deployment-names'), told: keyed(200) },
  { route: 'GET /v1/user/info', asking: get('/v1/user/info'), told: keyed(200) },
  { route: 'GET /v1/deployments/*', asking: get('/v1/deployments/model/limits'), told: byRole },
  { route: 'GET /v1/deployments/*', asking: get('/v1/deployments/model/configuration'), told: byRole },
  { route: 'GET /v1/deployments/*', asking: get('/v1/deployments/model/documents'), told: byRole },
  {
    route: 'GET /v1/deployments/*',
    asking: get(`/v1/deployments/${made}/limits`),
    told: keyed(denied, { owner: 200, chain: 200 }),
  },
  {
    route: 'GET /v1/deployments/*',
    asking: get(`/v1/deployments/${made}/documents`),
    told: keyed(denied, { owner: 200, chain: 200 }),
  },
  { route: 'POST /v1/deployments/*', asking: post('/v1/deployments/model/mcp', listTools), told: byRole },
  { route: 'POST /v1/deployments/*', asking: post('/v1/deployments/model/mcp', callTool), told: byRole },
  {
    route: 'POST /v1/deployments/*',
    asking: post(`/v1/deployments/${made}/mcp`, listTools),
    told: keyed(denied, { owner: 200, chain: 200 }),
  },
  {
    route: 'POST /v1/deployments/*',
    asking: post('/v1/deployments/none/mcp', listTools),
    told: keyed('404 deployment_not_found'),
  },
  {
    route: 'GET /v1/application_type_schemas/schema',
    asking: get('/v1/application_type_schemas/schema?id=x/custom_application_schemas/quickapps'),
    told: keyed(200),
  },
  { route: 'GET /custom_application_schemas/quickapps', asking: get('/custom_application_schemas/quickapps'), told: open(200) },
  { route: 'POST /v1/import-openapi', asking: post('/v1/import-openapi', { document }), told: keyed(200, { chain: denied }) },
  { route: 'POST /v1/tools/list', asking: post('/v1/tools/list', { toolset }), told: keyed(200, { chain: denied }) },
  {
    route: 'POST /v1/tools/list',
    asking: post('/v1/tools/list', { toolset, application: made }),
    told: byOwner(200),
  },
  { route: 'POST /v1/tools/run', asking: post('/v1/tools/run', { toolset, tool: 'x' }), told: keyed(200, { chain: denied }) },
  {
    route: 'POST /v1/tools/run',
    asking: post('/v1/tools/run', { toolset, tool: 'x', application: made }),
    told: byOwner(200),
  },
  { route: 'GET /v1/applications/*', asking: get(pathOf('made', ownerBucket)), told: byOwner(200) },
  { route: 'GET /v1/applications/*', asking: get(`/v1/applications/${ownerBucket}/`), told: byOwner(200) },
  {
    route: 'PUT /v1/applications/*',
    asking: put(pathOf('made', ownerBucket), quickApp({ instructions: canary, model: 'model' })),
    told: byOwner(200),
  },
  {
    route: 'DELETE /v1/applications/*',
    asking: () => ({ method: 'DELETE', path: pathOf('doomed', ownerBucket) }),
    told: byOwner(204),
  },
  { route: 'GET /v1/versions/applications/*', asking: get(`/v1/versions/${made}`), told: byOwner(200) },
  { route: 'GET /v1/versions/applications/*', asking: get(`/v1/versions/${made}?version=1`), told: byOwner(200) },
  { route: 'POST /v1/versions/applications/*', asking: post(`/v1/versions/${made}?version=1`, {}), told: byOwner(200) },
  { route: 'GET /v1/cases/applications/*', asking: get(`/v1/cases/${made}`), told: byOwner(200) },
  {
    route: 'POST /v1/cases/applications/*',
    asking: post(`/v1/cases/${made}`, { input: canary, checks: [] }),
    told: byOwner(201),
  },
  { route: 'PUT /v1/cases/:case', asking: put('/v1/cases/none', { input: 'x' }), told: noEvaluation },
  { route: 'DELETE /v1/cases/:case', asking: () => ({ method: 'DELETE', path: '/v1/cases/none' }), told: noEvaluation },
  { route: 'GET /v1/evaluations/applications/*', asking: get(`/v1/evaluations/${made}`), told: byOwner(200) },
  {
    route: 'POST /v1/evaluations/applications/*',
    asking: post(`/v1/evaluations/${made}`, { version: 1000 }),
    told: byOwner('404 deployment_not_found'),
  },
  { route: 'GET /v1/evaluations/:evaluation', asking: get('/v1/evaluations/none'), told: noEvaluation },
  {
    route: 'GET /v1/evaluations/:evaluation/comparison',
    asking: get('/v1/evaluations/none/comparison?with=none'),
    told: noEvaluation,
  },
  { route: 'POST /v1/evaluations/:evaluation/cancel', asking: post('/v1/evaluations/none/cancel', {}), told: noEvaluation },
  { route: 'GET /v1/consent', asking: get('/v1/consent'), told: keyed(200, { chain: denied }) },
  { route: 'GET /v1/consent/*', asking: get('/v1/consent/app'), told: { ...byRole, chain: denied } },
  { route: 'GET /v1/consent/*', asking: get(`/v1/consent/${made}`), told: byOwner(200) },
  {
    route: 'POST /v1/consent/*',
    asking: post('/v1/consent/app', { consent: { app: { consentRequired: true } } }),
    told: { ...byRole, chain: denied },
  },
  {
    route: 'DELETE /v1/consent/*',
    asking: () => ({ method: 'DELETE', path: '/v1/consent/app' }),
    told: keyed(204, { roleless: denied, chain: denied }),
  },
  ...['usage', 'calls', 'audit', 'state'].map(
    (name): Row => ({ route: `GET /v1/admin/${name}`, asking: get(`/v1/admin/${name}`), told: byOwner(200) }),
  ),
  ...['keys', 'blocked-users'].map(
    (name): Row => ({ route: `GET /v1/admin/${name}`, asking: get(`/v1/admin/${name}`), told: byOwner(200) }),
  ),
  {
    route: 'DELETE /v1/admin/keys/:key',
    asking: () => ({ method: 'DELETE', path: '/v1/admin/keys/none' }),
    told: byOwner(noKey),
  },
  {
    route: 'PUT /v1/admin/blocked-users/:user',
    asking: put('/v1/admin/blocked-users/a%2Fb', {}),
    told: byOwner(201),
  },
  {
    route: 'DELETE /v1/admin/blocked-users/:user',
    asking: () => ({ method: 'DELETE', path: '/v1/admin/blocked-users/none' }),
    told: byOwner('404 user_not_blocked'),
  },
  { route: 'GET /v1/user/usage', asking: get('/v1/user/usage'), told: keyed(200, { chain: denied }) },
  { route: 'GET /v1/user/calls', asking: get('/v1/user/calls'), told: keyed(200, { chain: denied }) },
  { route: 'GET /v1/user/keys', asking: get('/v1/user/keys'), told: bySignedIn(200) },
  { route: 'POST /v1/user/keys', asking: post('/v1/user/keys', { days: 1 }), told: bySignedIn(201) },
  { route: 'POST /v1/user/keys/:key/rotate', asking: post('/v1/user/keys/none/rotate', {}), told: bySignedIn(noKey) },
  {
    route: 'DELETE /v1/user/keys/:key',
    asking: () => ({ method: 'DELETE', path: '/v1/user/keys/none' }),
    told: bySignedIn(noKey),
  },
  { route: 'GET /v1/sign-in', asking: get('/v1/sign-in'), told: open(200) },
  { route: 'GET /v1/bucket', asking: get('/v1/bucket'), told: keyed(200) },
  { route: 'GET /v1/files/*', asking: get(`/v1/files/${ownerBucket}/given`), told: keyed(denied, { owner: 200, chain: 200 }) },
  { route: 'GET /v1/files/*', asking: get(`/v1/files/${ownerBucket}/kept`), told: byOwner(200) },
  { route: 'PUT /v1/files/*', asking: put(`/v1/files/${ownerBucket}/given`, canary), told: byOwner(200) },
  {
    route: 'DELETE /v1/files/*',
    asking: () => ({ method: 'DELETE', path: `/v1/files/${ownerBucket}/doomed` }),
    told: byOwner(204),
  },
  {
    route: 'GET /v1/metadata/files/*',
    asking: get(`/v1/metadata/files/${ownerBucket}/given`),
    told: keyed(denied, { owner: 200, chain: 200 }),
  },
  { route: 'GET /v1/metadata/files/*', asking: get(`/v1/metadata/files/${ownerBucket}/kept`), told: byOwner(200) },
  { route: 'GET /v1/metadata/files/*', asking: get(`/v1/metadata/files/${ownerBucket}/`), told: byOwner(200) },
  ...recordPaths,
  { route: 'GET /v1/metadata/applications/*', asking: get(`/v1/metadata/${made}`), told: byOwner(200) },
  { route: 'GET /v1/metadata/applications/*', asking: get(`/v1/metadata/applications/${ownerBucket}/`), told: byOwner(200) },
  {
    route: 'GET /v1/metadata/applications/*',
    asking: get('/v1/metadata/applications/public/'),
    told: keyed(200, { chain: denied }),
  },
  ...['files', 'prompts', 'conversations'].map(
    (kind): Row => ({
      route: `GET /v1/metadata/${kind}/*`,
      asking: get(`/v1/metadata/${kind}/public/?recursive=true`),
      told: keyed(200),
    }),
  ),
  { route: 'PUT /v1/files/*', asking: put('/v1/files/public/mine', canary), told: keyed(denied) },
  {
    route: 'POST /v1/ops/resource/move',
    asking: post('/v1/ops/resource/move', move('files', 'gone', 'arrived')),
    told: byOwner(200),
  },
  {
    route: 'POST /v1/ops/resource/copy',
    asking: post('/v1/ops/resource/copy', move('files', 'kept', 'copied')),
    told: byOwner(200),
  },
  {
    route: 'POST /v1/ops/resource/copy',
    asking: post('/v1/ops/resource/copy', move('applications', 'made', 'made-again')),
    told: byOwner(200),
  },
  {
    route: 'POST /v1/ops/resource/copy',
    asking: post('/v1/ops/resource/copy', move('files', 'given', 'given-again')),
    told: byOwner(200),
  },
  ...['grant', 'revoke'].map((what): Row => {
    const path = `/v1/ops/resource/per-request-permissions/${what}`;
    const body = { resourcePermissions: [{ url: `files/${ownerBucket}/given`, permissions: ['READ'] }], receiver: 'app' };
    return { route: `POST ${path}`, asking: post(path, body), told: keyed(denied, { chain: 200 }) };
  }),
  {
    route: 'POST /v1/ops/resource/per-request-permissions/list',
    asking: post('/v1/ops/resource/per-request-permissions/list', {}),
    told: keyed(denied, { chain: 200 }),
  },
  {
    route: 'POST /v1/ops/resource/per-request-permissions/grant',
    asking: post('/v1/ops/resource/per-request-permissions/grant', {
      resourcePermissions: [{ url: `files/${ownerBucket}/kept`, permissions: ['READ'] }],
      receiver: 'app',
    }),
    told: keyed(denied),
  },
  {
    route: 'POST /v1/ops/resource/share/list',
    asking: post('/v1/ops/resource/share/list', { resourceTypes: ['FILE'], with: 'me' }),
    told: keyed(200, { chain: denied }),
  },
  {
    route: 'POST /v1/ops/publication/list',
    asking: post('/v1/ops/publication/list', { url: 'publications/public/' }),
    told: keyed(200, { chain: denied }),
  },
  ...['/health', '/ready', '/metrics', '/openapi.json', '/docs', '/docs/start.js', '/docs/scalar.js'].map(
    (path): Row => ({ route: `GET ${path}`, asking: get(path), told: open(200) }),
  ),
];

let whole: WholeService;
let others: ScriptedUpstream;
let issuer: Issuer;
/** What each sends to say who it is. */
let credentials: Readonly<Record<CallerKind, Record<string, string>>>;
const letGo = Promise.withResolvers<void>();

beforeAll(async () => {
  issuer = await startIssuer();
  others = await startScriptedUpstream(jsonReply({ choices: [], results: [], data: [], text: '', audio: '' }));
  whole = await startWhole((url) => ({
    models: {
      model: { upstreams: [{ endpoint: `${url}/v1` }], ...staffed },
      vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }], ...staffed },
      other: { upstreams: [{ endpoint: others.endpoint, api: passThroughApis }], ...staffed },
    },
    applications: { app: { endpoint: `${url}/app`, features: { consentRequired: true }, ...staffed } },
    keys: {
      'owner-key': { project: 'owner', roles: ['staff', 'admin'] },
      'stranger-key': { project: 'stranger', role: 'staff' },
      'roleless-key': { project: 'roleless', role: 'guest' },
    },
    roles: { staff: { selfService: { keys: 1, maxDays: 30 } } },
    identityProviders: { sso: entryOf(issuer, { rolesClaim: 'roles' }) },
  }));
  for (const name of ['given', 'kept', 'doomed', 'gone'])
    await as('owner-key', 'PUT', `/v1/files/${ownerBucket}/${name}`, canary);
  for (const [kind, record] of Object.entries(records))
    for (const name of ['kept', 'doomed']) await as('owner-key', 'PUT', `/v1/${kind}/${ownerBucket}/${name}`, record);
  for (const name of ['made', 'doomed'])
    await as('owner-key', 'PUT', pathOf(name, ownerBucket), quickApp({ instructions: canary, model: 'model' }));
  const ended = await keyOfCall((answering) => jsonReply(plainCompletion('over'))(answering));
  const chain = await keyOfCall(async (answering) => {
    whole.host.script(jsonReply(plainCompletion('hi')));
    await letGo.promise;
    await jsonReply(plainCompletion('over'))(answering);
  });
  credentials = {
    nobody: {},
    unknown: { 'api-key': 'no-such-key' },
    owner: { 'api-key': 'owner-key' },
    roleless: { 'api-key': 'roleless-key' },
    user: { authorization: `Bearer ${await issuer.token({ roles: ['staff'] })}` },
    chain: { 'api-key': chain },
    ended: { 'api-key': ended },
    stranger: { 'api-key': 'stranger-key' },
  };
});

afterAll(async () => {
  letGo.resolve();
  await others.close();
  await whole[Symbol.asyncDispose]();
  await issuer.stop();
});

function as(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  return whole.service.sendRequest({ method, path, headers: { 'api-key': key, 'content-type': 'application/json' }, body });
}

/** The key that an application is sent with a call of the owner, who hands on the file `given`. */
async function keyOfCall(answer: (answering: Answering) => unknown): Promise<string> {
  const sent = Promise.withResolvers<string>();
  whole.host.script(async (answering) => {
    sent.resolve(String(answering.received.headers['api-key']));
    await answer(answering);
  });
  const attachments = [{ index: 0, type: 'text/plain', url: `files/${ownerBucket}/given` }];
  const body = { messages: [{ role: 'user', content: 'read', custom_content: { attachments } }] };
  const answered = as('owner-key', 'POST', chatPath('app'), body);
  const key = await sent.promise;
  // A call that is held open is answered when all is over.
  await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  return key;
}

/** Every file of the page is served alike. */
function toPattern(route: string): string {
  return /^GET \/($|(assets|brand)\/|[\w.-]+\.(html|js|svg|png|webmanifest|woff2)$)/.test(route)
    ? 'GET / and the files of the page'
    : route;
}

describe('every route × every caller', () => {
  it('is in the table', () => {
    const registered = new Set(whole.routes.map((route) => toPattern(route.replace(/^HEAD /, 'GET '))));
    registered.delete('GET / and the files of the page');
    expect([...registered].sort()).toEqual([...new Set(table.map(({ route }) => route))].sort());
  });

  const cells = table.flatMap((row) => callers.map((caller) => ({ ...row, caller, path: row.asking(caller).path })));

  it.each(cells)('$route: $caller at $path', async ({ asking, caller, told, route }) => {
    const { method, path, body, headers: own } = asking(caller);
    const type = body !== undefined && { 'content-type': 'application/json' };
    const headers = { ...credentials[caller], ...type, ...own };
    const answer = await whole.service.sendRequest({ method: method ?? 'POST', path, headers, body });
    expect(toTold(answer)).toBe(told[caller]);
    if (caller !== 'owner' && caller !== 'chain') expect(answer.text).not.toContain(canary);
    if (!route.startsWith('GET ')) return;
    const head = await whole.service.sendRequest({ method: 'HEAD', path, headers });
    expect([head.status, head.text]).toEqual([answer.status, '']);
  });
});

function toTold({ status, text }: TestResponse): Told {
  if (status < 400) return status;
  const { error } = JSON.parse(text) as { error: { code?: string; type: string } };
  return `${status} ${error.code ?? error.type}`;
}
