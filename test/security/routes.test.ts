import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryKindNames } from '#contract/administration/entry-kinds.ts';
import { type PassThroughApi, passThrough, passThroughApis } from '#contract/pass-through.ts';
import { getBucket } from '#test/buckets.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { type Answering, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestRequest, TestResponse } from '#test/send-request.ts';
import { chatPath } from '#test/start-service.ts';
import { getApplicationPath, quickApp } from '../applications/support.ts';
import { createProviderEntry, type Issuer, startIssuer } from '../identity/support.ts';
import { formType, sound, toForm } from '../passthrough/support.ts';
import { type FullService, startFullService } from './support.ts';

/**
 * Kinds of callers. `owner` owns the requested resources and has the roles `staff` and `admin`. `chain` and `ended` have
 * per-request keys of calls by the owner, in progress and ended. `user` has a token of an identity provider and the role `staff`.
 * `stranger` has a key of another project and the role `staff`. `roleless` has a key without that role.
 */
const callers = ['nobody', 'unknown', 'owner', 'roleless', 'user', 'chain', 'ended', 'stranger'] as const;
type CallerKind = (typeof callers)[number];

/** A status, followed by the code of the error or, for APIs without codes, its type. */
type Outcome = number | `${number} ${string}`;

interface Row {
  /** Route as registered. HEAD counts as GET, and the files of the page are one route. */
  readonly route: string;
  readonly toRequest: (caller: CallerKind) => TestRequest;
  readonly outcomes: Readonly<Record<CallerKind, Outcome>>;
}

const staffed = { userRoles: ['staff'] };
const ownerBucket = getBucket('key:owner');
/** Text that other callers must never receive. */
const canary = 'canary-of-the-owner';

const denied = '403 access_denied';
const unknown = { nobody: '401 missing_credentials', unknown: '401 invalid_api_key', ended: '401 invalid_api_key' } as const;

/** One answer for all callers, with or without a key. */
function open(status: Outcome): Row['outcomes'] {
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

/** One answer for all callers with a valid key or token, with exceptions. */
function withKeyOnly(status: Outcome, others: Partial<Row['outcomes']> = {}): Row['outcomes'] {
  return { ...unknown, owner: status, roleless: status, user: status, chain: status, stranger: status, ...others };
}

/** Routes that the role permits. */
const byRole = withKeyOnly(200, { roleless: denied });
/** Routes for the owner only, and not for applications that act for the owner. */
const byOwner = (status: Outcome): Row['outcomes'] => withKeyOnly(denied, { owner: status });
/** Routes for signed-in users only. */
const bySignedIn = (status: Outcome): Row['outcomes'] => withKeyOnly(denied, { user: status });
const noKey = '404 key_not_found';
/** Routes of the Messages API that the role permits. */
const messagesByRole = withKeyOnly(200, {
  nobody: '401 authentication_error',
  unknown: '401 authentication_error',
  ended: '401 authentication_error',
  roleless: '403 permission_error',
});

const chat = { messages: hello };
const message = { model: 'model', max_tokens: 10, messages: hello };
const savedId = `applications/${ownerBucket}/made`;
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const callTool = { ...listTools, method: 'tools/call', params: { name: 'model', arguments: { query: 'Hello' } } };
const document = { openapi: '3.0.0', info: { title: 'x', version: '1' }, servers: [{ url: 'https://x.test' }], paths: {} };

const toolset = { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } };

const get = (path: string) => (): TestRequest => ({ method: 'GET', path });
const post = (path: string, body: unknown) => (): TestRequest => ({ path, body });
const put = (path: string, body: unknown) => (): TestRequest => ({ method: 'PUT', path, body });

const noEntry = '404 entry_not_found';
const entryRoutes = entryKindNames.flatMap((kind): Row[] => {
  const [url, path] = [`/v1/admin/${kind}/:entry`, `/v1/admin/${kind}/none`];
  const rows: Row[] = [
    { route: `GET ${url}`, toRequest: get(path), outcomes: byOwner(noEntry) },
    { route: `PUT ${url}`, toRequest: put(path, []), outcomes: byOwner('400 invalid_request') },
    { route: `POST ${url}/migrate`, toRequest: post(`${path}/migrate`, undefined), outcomes: byOwner(noEntry) },
  ];
  if (kind === 'keys') return rows;
  return [
    ...rows,
    { route: `GET /v1/admin/${kind}`, toRequest: get(`/v1/admin/${kind}`), outcomes: byOwner(200) },
    { route: `DELETE ${url}`, toRequest: () => ({ method: 'DELETE', path }), outcomes: byOwner(noEntry) },
  ];
});
const limitRoutes = (['projects', 'keys', 'users'] as const).flatMap((kind): Row[] => {
  const [url, path] = [`/v1/admin/${kind}/:entry`, `/v1/admin/${kind}/none`];
  const found = byOwner(kind === 'users' ? 200 : noEntry);
  return [
    { route: `GET ${url}/usage`, toRequest: get(`${path}/usage`), outcomes: found },
    { route: `POST ${url}/reset`, toRequest: post(`${path}/reset`, undefined), outcomes: found },
  ];
});
const changeRoutes: readonly Row[] = [
  { route: 'POST /v1/admin/keys', toRequest: post('/v1/admin/keys', {}), outcomes: byOwner('400 invalid_request') },
  { route: 'POST /v1/admin/keys/:entry/rotate', toRequest: post('/v1/admin/keys/none/rotate', {}), outcomes: byOwner(noEntry) },
  {
    route: 'POST /v1/admin/first-start',
    toRequest: post('/v1/admin/first-start', { token: 'x' }),
    outcomes: open('401 invalid_token'),
  },
  { route: 'POST /v1/admin/apply', toRequest: post('/v1/admin/apply', {}), outcomes: byOwner(200) },
  { route: 'GET /v1/admin/schema', toRequest: get('/v1/admin/schema'), outcomes: byOwner(200) },
  { route: 'GET /v1/admin/export', toRequest: get('/v1/admin/export'), outcomes: byOwner(200) },
  { route: 'GET /v1/admin/alerts', toRequest: get('/v1/admin/alerts'), outcomes: byOwner(200) },
  { route: 'GET /v1/admin/changes', toRequest: get('/v1/admin/changes'), outcomes: byOwner(200) },
  ...(['GET /v1/admin/changes/:change', 'POST /v1/admin/changes/:change/rollback'] as const).map((route): Row => {
    const [method = '', url = ''] = route.split(' ');
    return {
      route,
      toRequest: () => ({ method, path: url.replace(':change', 'none') }),
      outcomes: byOwner('404 change_not_found'),
    };
  }),
];

/** Provisioning requires a key with the role `scim`, so every caller is rejected. */
const scimRoutes: readonly Row[] = [
  ...['/ServiceProviderConfig', '/ResourceTypes', '/ResourceTypes/:name', '/Schemas', '/Schemas/:name'].map(
    (path) => `GET ${path}`,
  ),
  ...[
    ['Users', 'user'],
    ['Groups', 'group'],
  ].flatMap(([kind, name]) => [
    `GET /${kind}`,
    `POST /${kind}`,
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /${kind}/:${name}`),
  ]),
].map((text): Row => {
  const [method = '', path = ''] = text.split(' ');
  const url = `/scim/v2${path.replace(/:\w+/, 'none')}`;
  const body = method === 'POST' || method === 'PUT' || method === 'PATCH' ? { body: {} } : {};
  return {
    route: `${method} /scim/v2${path}`,
    toRequest: () => ({ method, path: url, ...body }),
    outcomes: { ...open(403), nobody: 401, unknown: 401, ended: 401 },
  };
});

const deploymentPaths = ['compat', 'openai'].flatMap((prefix): Row[] => {
  const base = `/${prefix}/deployments`;
  const version = prefix === 'compat' ? '/2024-10-21' : '';
  return [
    { route: `POST ${base}/*`, toRequest: post(`${base}/model/chat/completions${version}`, chat), outcomes: byRole },
    { route: `POST ${base}/*`, toRequest: post(`${base}/vectors/embeddings${version}`, { input: 'x' }), outcomes: byRole },
    {
      route: `POST ${base}/*`,
      toRequest: post(`${base}/${savedId}/chat/completions${version}`, chat),
      outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }),
    },
    {
      route: `POST ${base}/*`,
      toRequest: post(`${base}/none/chat/completions${version}`, chat),
      outcomes: withKeyOnly('404 DeploymentNotFound'),
    },
    ...['addons', 'assistants'].map(
      (kind): Row => ({ route: `GET /${prefix}/${kind}`, toRequest: get(`/${prefix}/${kind}`), outcomes: withKeyOnly(200) }),
    ),
    ...['deployments', 'models', 'applications'].flatMap((kind): Row[] => [
      { route: `GET /${prefix}/${kind}`, toRequest: get(`/${prefix}/${kind}`), outcomes: withKeyOnly(200) },
      {
        route: `GET /${prefix}/${kind}/*`,
        toRequest: get(`/${prefix}/${kind}/${kind === 'applications' ? 'app' : 'model'}`),
        outcomes: byRole,
      },
    ]),
    { route: `GET ${base}/*`, toRequest: get(`${base}/${savedId}`), outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }) },
  ];
});

/** Returns a request with all fields that any pass-through API requires. */
function toPassThrough(path: string, api: PassThroughApi): Row['toRequest'] {
  if (passThrough[api].accepts !== 'form')
    return post(path, { model: 'other', prompt: 'x', input: 'x', voice: 'x', query: 'x', documents: ['x'] });
  const body = toForm({ name: 'model', value: 'other' }, sound);
  return () => ({ path, headers: { 'content-type': formType }, body });
}

/** Paths at which clients of the older Azure API call the Responses API. */
const azurePaths = ['', '/input_tokens', '/compact'].map((below): Row => {
  const path = `/openai/responses${below}`;
  return { route: `POST ${path}`, toRequest: post(path, { model: 'model', input: 'Hello' }), outcomes: byRole };
});

const openAiPaths = ['/v1', '/openai/v1'].flatMap((base): Row[] => [
  {
    route: `POST ${base}/chat/completions`,
    toRequest: post(`${base}/chat/completions`, { model: 'model', ...chat }),
    outcomes: byRole,
  },
  {
    route: `POST ${base}/chat/completions`,
    toRequest: post(`${base}/chat/completions`, { model: 'none', ...chat }),
    outcomes: withKeyOnly('404 model_not_found'),
  },
  { route: `POST ${base}/embeddings`, toRequest: post(`${base}/embeddings`, { model: 'vectors', input: 'x' }), outcomes: byRole },
  ...passThroughApis.map(
    (api): Row => ({ route: `POST ${base}/${api}`, toRequest: toPassThrough(`${base}/${api}`, api), outcomes: byRole }),
  ),
  ...['', '/input_tokens', '/compact'].map(
    (below): Row => ({
      route: `POST ${base}/responses${below}`,
      toRequest: post(`${base}/responses${below}`, { model: 'model', input: 'Hello' }),
      outcomes: byRole,
    }),
  ),
  {
    route: `POST ${base}/responses`,
    toRequest: post(`${base}/responses`, { model: 'none', input: 'Hello' }),
    outcomes: withKeyOnly('404 model_not_found'),
  },
  { route: `GET ${base}/responses`, toRequest: get(`${base}/responses`), outcomes: open('405 method_not_allowed') },
  { route: `GET ${base}/models`, toRequest: get(`${base}/models`), outcomes: withKeyOnly(200) },
  { route: `GET ${base}/models/*`, toRequest: get(`${base}/models/model`), outcomes: byRole },
]);

const messagesPaths = ['msgapi', 'anthropic'].flatMap((prefix): Row[] => [
  { route: `POST /${prefix}/v1/messages`, toRequest: post(`/${prefix}/v1/messages`, message), outcomes: messagesByRole },
  {
    route: `POST /${prefix}/v1/messages/count_tokens`,
    toRequest: post(`/${prefix}/v1/messages/count_tokens`, { model: 'model', messages: hello }),
    outcomes: messagesByRole,
  },
]);

const records = {
  prompts: { id: 'p', folderId: 'f', name: canary, content: canary },
  conversations: { id: 'c', folderId: 'f', name: canary, messages: [] },
};

/** Within the owner's bucket. Overwrites the destination. */
function move(kind: string, from: string, to: string): object {
  const base = `${kind}/${ownerBucket}`;
  return { sourceUrl: `${base}/${from}`, destinationUrl: `${base}/${to}`, overwrite: true };
}

const recordPaths = Object.entries(records).flatMap(([kind, record]): Row[] => [
  { route: `PUT /v1/${kind}/*`, toRequest: put(`/v1/${kind}/${ownerBucket}/kept`, record), outcomes: byOwner(200) },
  { route: `GET /v1/${kind}/*`, toRequest: get(`/v1/${kind}/${ownerBucket}/kept`), outcomes: byOwner(200) },
  {
    route: `DELETE /v1/${kind}/*`,
    toRequest: () => ({ method: 'DELETE', path: `/v1/${kind}/${ownerBucket}/doomed` }),
    outcomes: byOwner(204),
  },
  { route: `GET /v1/metadata/${kind}/*`, toRequest: get(`/v1/metadata/${kind}/${ownerBucket}/kept`), outcomes: byOwner(200) },
  { route: `GET /v1/metadata/${kind}/*`, toRequest: get(`/v1/metadata/${kind}/${ownerBucket}/`), outcomes: byOwner(200) },
]);

const noRole = { roleless: '403 permission_error' } as const;

const noEvaluation = withKeyOnly('404 evaluation_not_found', { chain: denied });

const table: readonly Row[] = [
  ...deploymentPaths,
  ...messagesPaths,
  { route: 'GET /anthropic/v1/models', toRequest: get('/anthropic/v1/models'), outcomes: { ...messagesByRole, roleless: 200 } },
  {
    route: 'GET /anthropic/v1/models/*',
    toRequest: get('/anthropic/v1/models/model'),
    outcomes: { ...messagesByRole, ...noRole },
  },
  ...openAiPaths,
  ...azurePaths,
  {
    route: 'POST /openai/v1/deployments/*',
    toRequest: post('/openai/v1/deployments/model/chat/completions?api-version=preview', chat),
    outcomes: byRole,
  },
  {
    route: 'POST /openai/v1/deployments/*',
    toRequest: post('/openai/v1/deployments/vectors/embeddings', { input: 'x' }),
    outcomes: byRole,
  },
  { route: 'GET /v1/deployment-names', toRequest: get('/v1/deployment-names'), outcomes: withKeyOnly(200) },
  { route: 'GET /v1/user/info', toRequest: get('/v1/user/info'), outcomes: withKeyOnly(200) },
  { route: 'GET /v1/deployments/*', toRequest: get('/v1/deployments/model/limits'), outcomes: byRole },
  { route: 'GET /v1/deployments/*', toRequest: get('/v1/deployments/model/configuration'), outcomes: byRole },
  { route: 'GET /v1/deployments/*', toRequest: get('/v1/deployments/model/documents'), outcomes: byRole },
  {
    route: 'GET /v1/deployments/*',
    toRequest: get(`/v1/deployments/${savedId}/limits`),
    outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }),
  },
  {
    route: 'GET /v1/deployments/*',
    toRequest: get(`/v1/deployments/${savedId}/documents`),
    outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }),
  },
  { route: 'POST /v1/deployments/*', toRequest: post('/v1/deployments/model/mcp', listTools), outcomes: byRole },
  { route: 'POST /v1/deployments/*', toRequest: post('/v1/deployments/model/mcp', callTool), outcomes: byRole },
  {
    route: 'POST /v1/deployments/*',
    toRequest: post(`/v1/deployments/${savedId}/mcp`, listTools),
    outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }),
  },
  {
    route: 'POST /v1/deployments/*',
    toRequest: post('/v1/deployments/none/mcp', listTools),
    outcomes: withKeyOnly('404 deployment_not_found'),
  },
  {
    route: 'GET /v1/application_type_schemas/schema',
    toRequest: get('/v1/application_type_schemas/schema?id=x/custom_application_schemas/quickapps'),
    outcomes: withKeyOnly(200),
  },
  {
    route: 'GET /custom_application_schemas/quickapps',
    toRequest: get('/custom_application_schemas/quickapps'),
    outcomes: open(200),
  },
  {
    route: 'POST /v1/import-openapi',
    toRequest: post('/v1/import-openapi', { document }),
    outcomes: withKeyOnly(200, { chain: denied }),
  },
  { route: 'POST /v1/tools/list', toRequest: post('/v1/tools/list', { toolset }), outcomes: withKeyOnly(200, { chain: denied }) },
  {
    route: 'POST /v1/tools/list',
    toRequest: post('/v1/tools/list', { toolset, application: savedId }),
    outcomes: byOwner(200),
  },
  {
    route: 'POST /v1/tools/run',
    toRequest: post('/v1/tools/run', { toolset, tool: 'x' }),
    outcomes: withKeyOnly(200, { chain: denied }),
  },
  {
    route: 'POST /v1/tools/run',
    toRequest: post('/v1/tools/run', { toolset, tool: 'x', application: savedId }),
    outcomes: byOwner(200),
  },
  { route: 'GET /v1/applications/*', toRequest: get(getApplicationPath('made', ownerBucket)), outcomes: byOwner(200) },
  { route: 'GET /v1/applications/*', toRequest: get(`/v1/applications/${ownerBucket}/`), outcomes: byOwner(200) },
  {
    route: 'PUT /v1/applications/*',
    toRequest: put(getApplicationPath('made', ownerBucket), quickApp({ instructions: canary, model: 'model' })),
    outcomes: byOwner(200),
  },
  {
    route: 'DELETE /v1/applications/*',
    toRequest: () => ({ method: 'DELETE', path: getApplicationPath('doomed', ownerBucket) }),
    outcomes: byOwner(204),
  },
  { route: 'GET /v1/versions/applications/*', toRequest: get(`/v1/versions/${savedId}`), outcomes: byOwner(200) },
  { route: 'GET /v1/versions/applications/*', toRequest: get(`/v1/versions/${savedId}?version=1`), outcomes: byOwner(200) },
  { route: 'POST /v1/versions/applications/*', toRequest: post(`/v1/versions/${savedId}?version=1`, {}), outcomes: byOwner(200) },
  { route: 'GET /v1/cases/applications/*', toRequest: get(`/v1/cases/${savedId}`), outcomes: byOwner(200) },
  {
    route: 'POST /v1/cases/applications/*',
    toRequest: post(`/v1/cases/${savedId}`, { input: canary, checks: [] }),
    outcomes: byOwner(201),
  },
  { route: 'PUT /v1/cases/:case', toRequest: put('/v1/cases/none', { input: 'x' }), outcomes: noEvaluation },
  { route: 'DELETE /v1/cases/:case', toRequest: () => ({ method: 'DELETE', path: '/v1/cases/none' }), outcomes: noEvaluation },
  { route: 'GET /v1/evaluations/applications/*', toRequest: get(`/v1/evaluations/${savedId}`), outcomes: byOwner(200) },
  {
    route: 'POST /v1/evaluations/applications/*',
    toRequest: post(`/v1/evaluations/${savedId}`, { version: 1000 }),
    outcomes: byOwner('404 deployment_not_found'),
  },
  { route: 'GET /v1/evaluations/:evaluation', toRequest: get('/v1/evaluations/none'), outcomes: noEvaluation },
  {
    route: 'GET /v1/evaluations/:evaluation/comparison',
    toRequest: get('/v1/evaluations/none/comparison?with=none'),
    outcomes: noEvaluation,
  },
  {
    route: 'POST /v1/evaluations/:evaluation/cancel',
    toRequest: post('/v1/evaluations/none/cancel', {}),
    outcomes: noEvaluation,
  },
  { route: 'GET /v1/consent', toRequest: get('/v1/consent'), outcomes: withKeyOnly(200, { chain: denied }) },
  { route: 'GET /v1/consent/*', toRequest: get('/v1/consent/app'), outcomes: { ...byRole, chain: denied } },
  { route: 'GET /v1/consent/*', toRequest: get(`/v1/consent/${savedId}`), outcomes: byOwner(200) },
  {
    route: 'POST /v1/consent/*',
    toRequest: post('/v1/consent/app', { consent: { app: { consentRequired: true } } }),
    outcomes: { ...byRole, chain: denied },
  },
  {
    route: 'DELETE /v1/consent/*',
    toRequest: () => ({ method: 'DELETE', path: '/v1/consent/app' }),
    outcomes: withKeyOnly(204, { roleless: denied, chain: denied }),
  },
  ...['usage', 'calls', 'audit', 'state', 'health'].map(
    (name): Row => ({ route: `GET /v1/admin/${name}`, toRequest: get(`/v1/admin/${name}`), outcomes: byOwner(200) }),
  ),
  ...['keys', 'blocked-users'].map(
    (name): Row => ({ route: `GET /v1/admin/${name}`, toRequest: get(`/v1/admin/${name}`), outcomes: byOwner(200) }),
  ),
  ...entryRoutes,
  ...limitRoutes,
  ...changeRoutes,
  ...scimRoutes,
  {
    route: 'DELETE /v1/admin/keys/:entry',
    toRequest: () => ({ method: 'DELETE', path: '/v1/admin/keys/none' }),
    outcomes: byOwner(noKey),
  },
  {
    route: 'PUT /v1/admin/blocked-users/:user',
    toRequest: put('/v1/admin/blocked-users/a%2Fb', {}),
    outcomes: byOwner(201),
  },
  {
    route: 'DELETE /v1/admin/blocked-users/:user',
    toRequest: () => ({ method: 'DELETE', path: '/v1/admin/blocked-users/none' }),
    outcomes: byOwner('404 user_not_blocked'),
  },
  { route: 'GET /v1/user/usage', toRequest: get('/v1/user/usage'), outcomes: withKeyOnly(200, { chain: denied }) },
  { route: 'GET /v1/user/calls', toRequest: get('/v1/user/calls'), outcomes: withKeyOnly(200, { chain: denied }) },
  { route: 'GET /v1/user/keys', toRequest: get('/v1/user/keys'), outcomes: bySignedIn(200) },
  { route: 'POST /v1/user/keys', toRequest: post('/v1/user/keys', { days: 1 }), outcomes: bySignedIn(201) },
  { route: 'POST /v1/user/keys/:key/rotate', toRequest: post('/v1/user/keys/none/rotate', {}), outcomes: bySignedIn(noKey) },
  {
    route: 'DELETE /v1/user/keys/:key',
    toRequest: () => ({ method: 'DELETE', path: '/v1/user/keys/none' }),
    outcomes: bySignedIn(noKey),
  },
  { route: 'GET /v1/sign-in', toRequest: get('/v1/sign-in'), outcomes: open(200) },
  { route: 'GET /v1/bucket', toRequest: get('/v1/bucket'), outcomes: withKeyOnly(200) },
  {
    route: 'GET /v1/files/*',
    toRequest: get(`/v1/files/${ownerBucket}/given`),
    outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }),
  },
  { route: 'GET /v1/files/*', toRequest: get(`/v1/files/${ownerBucket}/kept`), outcomes: byOwner(200) },
  { route: 'PUT /v1/files/*', toRequest: put(`/v1/files/${ownerBucket}/given`, canary), outcomes: byOwner(200) },
  {
    route: 'DELETE /v1/files/*',
    toRequest: () => ({ method: 'DELETE', path: `/v1/files/${ownerBucket}/doomed` }),
    outcomes: byOwner(204),
  },
  {
    route: 'GET /v1/metadata/files/*',
    toRequest: get(`/v1/metadata/files/${ownerBucket}/given`),
    outcomes: withKeyOnly(denied, { owner: 200, chain: 200 }),
  },
  { route: 'GET /v1/metadata/files/*', toRequest: get(`/v1/metadata/files/${ownerBucket}/kept`), outcomes: byOwner(200) },
  { route: 'GET /v1/metadata/files/*', toRequest: get(`/v1/metadata/files/${ownerBucket}/`), outcomes: byOwner(200) },
  ...recordPaths,
  { route: 'GET /v1/metadata/applications/*', toRequest: get(`/v1/metadata/${savedId}`), outcomes: byOwner(200) },
  {
    route: 'GET /v1/metadata/applications/*',
    toRequest: get(`/v1/metadata/applications/${ownerBucket}/`),
    outcomes: byOwner(200),
  },
  {
    route: 'GET /v1/metadata/applications/*',
    toRequest: get('/v1/metadata/applications/public/'),
    outcomes: withKeyOnly(200, { chain: denied }),
  },
  ...['files', 'prompts', 'conversations'].map(
    (kind): Row => ({
      route: `GET /v1/metadata/${kind}/*`,
      toRequest: get(`/v1/metadata/${kind}/public/?recursive=true`),
      outcomes: withKeyOnly(200),
    }),
  ),
  { route: 'PUT /v1/files/*', toRequest: put('/v1/files/public/mine', canary), outcomes: withKeyOnly(denied) },
  {
    route: 'POST /v1/ops/resource/move',
    toRequest: post('/v1/ops/resource/move', move('files', 'gone', 'arrived')),
    outcomes: byOwner(200),
  },
  {
    route: 'POST /v1/ops/resource/copy',
    toRequest: post('/v1/ops/resource/copy', move('files', 'kept', 'copied')),
    outcomes: byOwner(200),
  },
  {
    route: 'POST /v1/ops/resource/copy',
    toRequest: post('/v1/ops/resource/copy', move('applications', 'made', 'made-again')),
    outcomes: byOwner(200),
  },
  {
    route: 'POST /v1/ops/resource/copy',
    toRequest: post('/v1/ops/resource/copy', move('files', 'given', 'given-again')),
    outcomes: byOwner(200),
  },
  ...['grant', 'revoke'].map((what): Row => {
    const path = `/v1/ops/resource/per-request-permissions/${what}`;
    const body = { resourcePermissions: [{ url: `files/${ownerBucket}/given`, permissions: ['READ'] }], receiver: 'app' };
    return { route: `POST ${path}`, toRequest: post(path, body), outcomes: withKeyOnly(denied, { chain: 200 }) };
  }),
  {
    route: 'POST /v1/ops/resource/per-request-permissions/list',
    toRequest: post('/v1/ops/resource/per-request-permissions/list', {}),
    outcomes: withKeyOnly(denied, { chain: 200 }),
  },
  {
    route: 'POST /v1/ops/resource/per-request-permissions/grant',
    toRequest: post('/v1/ops/resource/per-request-permissions/grant', {
      resourcePermissions: [{ url: `files/${ownerBucket}/kept`, permissions: ['READ'] }],
      receiver: 'app',
    }),
    outcomes: withKeyOnly(denied),
  },
  {
    route: 'POST /v1/ops/resource/share/list',
    toRequest: post('/v1/ops/resource/share/list', { resourceTypes: ['FILE'], with: 'me' }),
    outcomes: withKeyOnly(200, { chain: denied }),
  },
  {
    route: 'POST /v1/ops/publication/list',
    toRequest: post('/v1/ops/publication/list', { url: 'publications/public/' }),
    outcomes: withKeyOnly(200, { chain: denied }),
  },
  ...['/health', '/ready', '/metrics', '/openapi.json', '/docs', '/docs/start.js', '/docs/scalar.js'].map(
    (path): Row => ({ route: `GET ${path}`, toRequest: get(path), outcomes: open(200) }),
  ),
];

let fullService: FullService;
let others: ScriptedUpstream;
let issuer: Issuer;
/** Headers that identify each caller. */
let credentials: Readonly<Record<CallerKind, Record<string, string>>>;
const released = Promise.withResolvers<void>();

beforeAll(async () => {
  issuer = await startIssuer();
  others = await startScriptedUpstream(jsonReply({ choices: [], results: [], data: [], text: '', audio: '' }));
  fullService = await startFullService((url) => ({
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
    identityProviders: { sso: createProviderEntry(issuer, { rolesClaim: 'roles' }) },
  }));
  for (const name of ['given', 'kept', 'doomed', 'gone'])
    await as('owner-key', 'PUT', `/v1/files/${ownerBucket}/${name}`, canary);
  for (const [kind, record] of Object.entries(records))
    for (const name of ['kept', 'doomed']) await as('owner-key', 'PUT', `/v1/${kind}/${ownerBucket}/${name}`, record);
  for (const name of ['made', 'doomed'])
    await as('owner-key', 'PUT', getApplicationPath(name, ownerBucket), quickApp({ instructions: canary, model: 'model' }));
  const ended = await getCallKey((answering) => jsonReply(plainCompletion('over'))(answering));
  const chain = await getCallKey(async (answering) => {
    fullService.host.script(jsonReply(plainCompletion('hi')));
    await released.promise;
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
  released.resolve();
  await others.close();
  await fullService[Symbol.asyncDispose]();
  await issuer.stop();
});

function as(key: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  return fullService.service.sendRequest({ method, path, headers: { 'api-key': key, 'content-type': 'application/json' }, body });
}

/** Returns the per-request key of a call by the owner, who attaches the file `given`. */
async function getCallKey(answer: (answering: Answering) => unknown): Promise<string> {
  const sent = Promise.withResolvers<string>();
  fullService.host.script(async (answering) => {
    sent.resolve(String(answering.received.headers['api-key']));
    await answer(answering);
  });
  const attachments = [{ index: 0, type: 'text/plain', url: `files/${ownerBucket}/given` }];
  const body = { messages: [{ role: 'user', content: 'read', custom_content: { attachments } }] };
  const answered = as('owner-key', 'POST', chatPath('app'), body);
  const key = await sent.promise;
  // A call that is held open is answered only at the end of the tests.
  await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  return key;
}

/** Maps all files of the page to one pattern, because they are served the same way. */
function toPattern(route: string): string {
  return /^GET \/($|(assets|brand)\/|[\w.-]+\.(html|js|svg|png|webmanifest|woff2)$)/.test(route)
    ? 'GET / and the files of the page'
    : route;
}

describe('route table', () => {
  it('lists every registered route', () => {
    const registered = new Set(fullService.routes.map((route) => toPattern(route.replace(/^HEAD /, 'GET '))));
    registered.delete('GET / and the files of the page');
    expect([...registered].sort()).toEqual([...new Set(table.map(({ route }) => route))].sort());
  });

  const cells = table.flatMap((row) => callers.map((caller) => ({ ...row, caller, path: row.toRequest(caller).path })));

  it.each(cells)('$route: $caller at $path', async ({ toRequest, caller, outcomes, route }) => {
    const { method, path, body, headers: own } = toRequest(caller);
    const type = body !== undefined && { 'content-type': 'application/json' };
    const headers = { ...credentials[caller], ...type, ...own };
    const answer = await fullService.service.sendRequest({ method: method ?? 'POST', path, headers, body });
    expect(toOutcome(answer)).toBe(outcomes[caller]);
    if (caller !== 'owner' && caller !== 'chain') expect(answer.text).not.toContain(canary);
    if (!route.startsWith('GET ')) return;
    const head = await fullService.service.sendRequest({ method: 'HEAD', path, headers });
    expect([head.status, head.text]).toEqual([answer.status, '']);
  });
});

function toOutcome({ status, text }: TestResponse): Outcome {
  if (status < 400) return status;
  const { error } = JSON.parse(text) as { error?: { code?: string; type: string } };
  // Errors of SCIM have no code.
  if (error === undefined) return status;
  return `${status} ${error.code ?? error.type}`;
}
