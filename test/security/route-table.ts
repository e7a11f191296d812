import { entryKindNames } from '#contract/administration/entry-kinds.ts';
import { type PassThroughApi, passThrough, passThroughApis } from '#contract/pass-through.ts';
import { hello } from '#test/chunks.ts';
import type { TestRequest } from '#test/send-request.ts';
import { formType, sound, toForm } from '../passthrough/support.ts';
import {
  byAdmin,
  byOwner,
  byProjectReader,
  byReader,
  byRole,
  bySignedIn,
  canary,
  denied,
  messagesByRole,
  noKey,
  type Outcome,
  open,
  ownerBucket,
  type Row,
  withAnyKey,
  withKeyOnly,
} from './route-row.ts';
import { storedRouteTable } from './stored-route-table.ts';

const chat = { messages: hello };
const message = { model: 'model', max_tokens: 10, messages: hello };
const madePath = `/v1/applications/${ownerBucket}/made`;
/** A quick app of the owner. */
export const madeApplication = {
  applicationTypeSchemaId: 'https://any.example/custom_application_schemas/quickapps',
  applicationProperties: { instructions: canary, model: 'model', temperature: 0 },
};
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
    { route: `GET ${url}`, toRequest: get(path), outcomes: byReader(noEntry) },
    { route: `PUT ${url}`, toRequest: put(path, []), outcomes: byAdmin('400 invalid_request') },
    { route: `POST ${url}/migrate`, toRequest: post(`${path}/migrate`, undefined), outcomes: byAdmin(noEntry) },
  ];
  if (kind === 'keys') return rows;
  return [
    ...rows,
    { route: `GET /v1/admin/${kind}`, toRequest: get(`/v1/admin/${kind}`), outcomes: byReader(200) },
    { route: `DELETE ${url}`, toRequest: () => ({ method: 'DELETE', path }), outcomes: byAdmin(noEntry) },
  ];
});
const limitRoutes = (['projects', 'keys', 'users'] as const).flatMap((kind): Row[] => {
  const [url, path] = [`/v1/admin/${kind}/:entry`, `/v1/admin/${kind}/none`];
  const found = kind === 'users' ? 200 : noEntry;
  return [
    { route: `GET ${url}/usage`, toRequest: get(`${path}/usage`), outcomes: byReader(found) },
    { route: `POST ${url}/reset`, toRequest: post(`${path}/reset`, undefined), outcomes: byAdmin(found) },
  ];
});
const changeRoutes: readonly Row[] = [
  {
    route: 'GET /v1/admin/projects/:entry/usage',
    toRequest: get('/v1/admin/projects/owner/usage'),
    outcomes: byProjectReader(200),
  },
  { route: 'GET /v1/admin/usage', toRequest: get('/v1/admin/usage?project=owner'), outcomes: byProjectReader(200) },
  {
    route: 'POST /v1/admin/keys',
    toRequest: post('/v1/admin/keys', {}),
    outcomes: { ...byAdmin('400 invalid_request'), lead: '400 invalid_request' },
  },
  { route: 'POST /v1/admin/keys/:entry/rotate', toRequest: post('/v1/admin/keys/none/rotate', {}), outcomes: byAdmin(noEntry) },
  {
    route: 'POST /v1/admin/first-start',
    toRequest: post('/v1/admin/first-start', { token: 'x' }),
    outcomes: open('401 invalid_token'),
  },
  { route: 'POST /v1/admin/apply', toRequest: post('/v1/admin/apply', {}), outcomes: byAdmin(200) },
  { route: 'GET /v1/admin/schema', toRequest: get('/v1/admin/schema'), outcomes: byReader(200) },
  { route: 'GET /v1/admin/export', toRequest: get('/v1/admin/export'), outcomes: byReader(200) },
  { route: 'GET /v1/admin/alerts', toRequest: get('/v1/admin/alerts'), outcomes: byReader(200) },
  { route: 'GET /v1/admin/configured-alerts', toRequest: get('/v1/admin/configured-alerts'), outcomes: byReader(200) },
  { route: 'GET /v1/admin/changes', toRequest: get('/v1/admin/changes'), outcomes: byReader(200) },
  ...(['GET /v1/admin/changes/:change', 'POST /v1/admin/changes/:change/rollback'] as const).map((route): Row => {
    const [method = '', url = ''] = route.split(' ');
    return {
      route,
      toRequest: () => ({ method, path: url.replace(':change', 'none') }),
      outcomes: method === 'GET' ? byReader('404 change_not_found') : byAdmin('404 change_not_found'),
    };
  }),
];

function toScimOutcome(method: string, path: string): Outcome {
  if (path.includes(':')) return 404;
  return method === 'POST' ? 400 : 200;
}

/** Provisioning requires a key with the role `scim`. */
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
    outcomes: { ...open(403), nobody: 401, unknown: 401, ended: 401, scim: toScimOutcome(method, path) },
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
      outcomes: withAnyKey('404 DeploymentNotFound'),
    },
    ...['addons', 'assistants'].map(
      (kind): Row => ({ route: `GET /${prefix}/${kind}`, toRequest: get(`/${prefix}/${kind}`), outcomes: withAnyKey(200) }),
    ),
    ...['deployments', 'models', 'applications'].flatMap((kind): Row[] => [
      { route: `GET /${prefix}/${kind}`, toRequest: get(`/${prefix}/${kind}`), outcomes: withAnyKey(200) },
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
    outcomes: withAnyKey('404 model_not_found'),
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
    outcomes: withAnyKey('404 model_not_found'),
  },
  { route: `GET ${base}/responses`, toRequest: get(`${base}/responses`), outcomes: open('405 method_not_allowed') },
  { route: `GET ${base}/models`, toRequest: get(`${base}/models`), outcomes: withAnyKey(200) },
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

export const records = {
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

/** Every route, with requests that show its guards. docs/roles.md is generated from it. */
export const routeTable: readonly Row[] = [
  ...storedRouteTable,
  ...deploymentPaths,
  ...messagesPaths,
  {
    route: 'GET /anthropic/v1/models',
    toRequest: get('/anthropic/v1/models'),
    outcomes: { ...messagesByRole, roleless: 200, scim: 200 },
  },
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
  { route: 'GET /v1/deployment-names', toRequest: get('/v1/deployment-names'), outcomes: withAnyKey(200) },
  { route: 'GET /v1/prompt-library', toRequest: get('/v1/prompt-library'), outcomes: withKeyOnly(200) },
  { route: 'GET /v1/user/info', toRequest: get('/v1/user/info'), outcomes: withAnyKey(200) },
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
    outcomes: withAnyKey('404 deployment_not_found'),
  },
  {
    route: 'GET /v1/application_type_schemas/schema',
    toRequest: get('/v1/application_type_schemas/schema?id=x/custom_application_schemas/quickapps'),
    outcomes: withAnyKey(200),
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
  { route: 'GET /v1/applications/*', toRequest: get(madePath), outcomes: byOwner(200) },
  { route: 'GET /v1/applications/*', toRequest: get(`/v1/applications/${ownerBucket}/`), outcomes: byOwner(200) },
  {
    route: 'PUT /v1/applications/*',
    toRequest: put(madePath, madeApplication),
    outcomes: byOwner(200),
  },
  {
    route: 'DELETE /v1/applications/*',
    toRequest: () => ({ method: 'DELETE', path: `/v1/applications/${ownerBucket}/doomed` }),
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
  { route: 'GET /v1/consent/*', toRequest: get('/v1/consent/app'), outcomes: { ...byRole, bound: denied, chain: denied } },
  { route: 'GET /v1/consent/*', toRequest: get(`/v1/consent/${savedId}`), outcomes: byOwner(200) },
  {
    route: 'POST /v1/consent/*',
    toRequest: post('/v1/consent/app', { consent: { app: { consentRequired: true } } }),
    outcomes: { ...byRole, bound: denied, chain: denied },
  },
  {
    route: 'DELETE /v1/consent/*',
    toRequest: () => ({ method: 'DELETE', path: '/v1/consent/app' }),
    outcomes: withKeyOnly(204, { roleless: denied, chain: denied }),
  },
  ...['usage', 'calls', 'audit', 'state', 'health'].map(
    (name): Row => ({ route: `GET /v1/admin/${name}`, toRequest: get(`/v1/admin/${name}`), outcomes: byReader(200) }),
  ),
  {
    route: 'GET /v1/admin/calls/:id',
    toRequest: get('/v1/admin/calls/none'),
    outcomes: byReader('404 call_not_found'),
  },
  ...['keys', 'blocked-users'].map(
    (name): Row => ({ route: `GET /v1/admin/${name}`, toRequest: get(`/v1/admin/${name}`), outcomes: byReader(200) }),
  ),
  ...entryRoutes,
  ...limitRoutes,
  ...changeRoutes,
  ...scimRoutes,
  {
    route: 'DELETE /v1/admin/keys/:entry',
    toRequest: () => ({ method: 'DELETE', path: '/v1/admin/keys/none' }),
    outcomes: byAdmin(noKey),
  },
  {
    route: 'PUT /v1/admin/blocked-users/:user',
    toRequest: put('/v1/admin/blocked-users/a%2Fb', {}),
    outcomes: { ...byAdmin(201), admin: 200 },
  },
  {
    route: 'DELETE /v1/admin/blocked-users/:user',
    toRequest: () => ({ method: 'DELETE', path: '/v1/admin/blocked-users/none' }),
    outcomes: byAdmin('404 user_not_blocked'),
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
