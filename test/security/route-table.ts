import { entryKindNames } from '#contract/administration/entry-kinds.ts';
import { passThroughApis, passThroughTraits } from '#contract/pass-through.ts';
import { hello } from '#test/chunks.ts';
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
  toRow,
  withAnyKey,
  withKeyOnly,
} from './route-row.ts';

const chat = { messages: hello };
/** A quick app of the owner. */
export const madeApplication = {
  applicationTypeSchemaId: 'https://any.example/custom_application_schemas/quickapps',
  applicationProperties: { instructions: canary, model: 'model', temperature: 0 },
};
const madePath = `${ownerBucket}/made`;
const savedId = `applications/${madePath}`;
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const callTool = { ...listTools, method: 'tools/call', params: { name: 'model', arguments: { query: 'Hello' } } };
const document = { openapi: '3.0.0', info: { title: 'x', version: '1' }, servers: [{ url: 'https://x.test' }], paths: {} };
const toolset = { type: 'mcp', name: 'x', mcp_server_info: { url: 'http://127.0.0.1:1/mcp', protocol: 'streamable_http' } };

/** Routes for each key that is not bound, and not for applications that act for the owner. */
const byUnboundKey = (status: Outcome): Row['outcomes'] => withKeyOnly(status, { chain: denied });
/** Routes for each key, and not for applications that act for the owner. */
const byAnyKey = (status: Outcome): Row['outcomes'] => withAnyKey(status, { chain: denied });
/** Routes for the owner and for applications that act for the owner. */
const byOwnerAndChain = withKeyOnly(denied, { owner: 200, chain: 200 });
/** Returns rows of several routes with the same outcomes. */
const toRows = (routes: readonly string[], outcomes: Row['outcomes']): readonly Row[] =>
  routes.map((route) => toRow(route, outcomes));

const noEntry = '404 entry_not_found';
const entryRoutes = entryKindNames.flatMap((kind): readonly Row[] => {
  const url = `/v1/admin/${kind}/:entry`;
  return [
    toRow(`GET ${url}`, byReader(noEntry)),
    toRow(`PUT ${url}`, byAdmin('400 invalid_request'), { body: [] }),
    toRow(`POST ${url}/migrate`, byAdmin(noEntry), { body: undefined }),
    toRow(`GET /v1/admin/${kind}`, byReader(200)),
    toRow(`DELETE ${url}`, byAdmin(kind === 'keys' ? noKey : noEntry)),
  ];
});
const limitRoutes = (['projects', 'keys', 'users'] as const).flatMap((kind): readonly Row[] => {
  const outcome = kind === 'users' ? 200 : noEntry;
  return [
    toRow(`GET /v1/admin/${kind}/:entry/usage`, byReader(outcome)),
    toRow(`POST /v1/admin/${kind}/:entry/reset`, byAdmin(outcome), { body: undefined }),
  ];
});
const administrationRoutes: readonly Row[] = [
  ...entryRoutes,
  ...limitRoutes,
  ...toRows(
    [
      ...[
        'usage',
        'calls',
        'audit',
        'state',
        'health',
        'blocked-users',
        'shared-applications',
        'schema',
        'export',
        'alerts',
        'configured-alerts',
      ],
      'changes',
    ].map((name) => `GET /v1/admin/${name}`),
    byReader(200),
  ),
  toRow('GET /v1/admin/usage', byProjectReader(200), { query: '?project=owner' }),
  toRow('GET /v1/admin/projects/:entry/usage', byProjectReader(200), { at: 'owner' }),
  toRow('GET /v1/admin/calls/:id', byReader('404 call_not_found')),
  toRow('POST /v1/admin/keys', { ...byAdmin('400 invalid_request'), lead: '400 invalid_request' }),
  toRow('POST /v1/admin/keys/:entry/rotate', byAdmin(noEntry)),
  toRow('POST /v1/admin/first-start', open('401 invalid_token'), { body: { token: 'x' } }),
  toRow('POST /v1/admin/apply', byAdmin(200)),
  toRow('GET /v1/admin/changes/:change', byReader('404 change_not_found')),
  toRow('POST /v1/admin/changes/:change/rollback', byAdmin('404 change_not_found'), { body: undefined }),
  toRow('PUT /v1/admin/blocked-users/:user', { ...byAdmin(201), admin: 200 }, { at: 'a%2Fb' }),
  toRow('DELETE /v1/admin/blocked-users/:user', byAdmin('404 user_not_blocked')),
];

/** Provisioning requires a key with the role `scim`. */
const scimRoutes: readonly Row[] = [
  ...['/ServiceProviderConfig', '/ResourceTypes', '/ResourceTypes/:name', '/Schemas', '/Schemas/:name'].map(
    (url) => `GET ${url}`,
  ),
  ...['/Users', '/Groups'].flatMap((url) => [`GET ${url}`, `POST ${url}`]),
  ...['/Users/:user', '/Groups/:group'].flatMap((url) => ['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${url}`)),
].map((text) => {
  const scim = text.includes(':') ? 404 : text.startsWith('POST') ? 400 : 200;
  return toRow(text.replace(' ', ' /scim/v2'), { ...open(403), nobody: 401, unknown: 401, ended: 401, scim });
});

const deploymentRoutes = ['compat', 'openai'].flatMap((prefix): readonly Row[] => {
  const call = `POST /${prefix}/deployments/*`;
  const version = prefix === 'compat' ? '/2024-10-21' : '';
  return [
    toRow(call, byRole, { at: `model/chat/completions${version}`, body: chat }),
    toRow(call, byRole, { at: `vectors/embeddings${version}`, body: { input: 'x' } }),
    toRow(call, byOwnerAndChain, { at: `${savedId}/chat/completions${version}`, body: chat }),
    toRow(call, withAnyKey('404 DeploymentNotFound'), { at: `none/chat/completions${version}`, body: chat }),
    ...['addons', 'assistants', 'deployments', 'models', 'applications'].map((kind) =>
      toRow(`GET /${prefix}/${kind}`, withAnyKey(200)),
    ),
    toRow(`GET /${prefix}/deployments/*`, byRole, { at: 'model' }),
    toRow(`GET /${prefix}/deployments/*`, byOwnerAndChain, { at: savedId }),
    toRow(`GET /${prefix}/models/*`, byRole, { at: 'model' }),
    toRow(`GET /${prefix}/applications/*`, byRole, { at: 'app' }),
  ];
});

const openAiRoutes = ['/v1', '/openai/v1'].flatMap((base): readonly Row[] => [
  toRow(`POST ${base}/chat/completions`, byRole, { body: { model: 'model', ...chat } }),
  toRow(`POST ${base}/chat/completions`, withAnyKey('404 model_not_found'), { body: { model: 'none', ...chat } }),
  toRow(`POST ${base}/embeddings`, byRole, { body: { model: 'vectors', input: 'x' } }),
  ...passThroughApis.map((api): Row => {
    if (passThroughTraits[api].accepts !== 'form')
      return toRow(`POST ${base}/${api}`, byRole, {
        body: { model: 'other', prompt: 'x', input: 'x', voice: 'x', query: 'x', documents: ['x'] },
      });
    const form = {
      path: `${base}/${api}`,
      headers: { 'content-type': formType },
      body: toForm({ name: 'model', value: 'other' }, sound),
    };
    return { route: `POST ${base}/${api}`, toRequest: () => form, outcomes: byRole };
  }),
  toRow(`POST ${base}/responses`, withAnyKey('404 model_not_found'), { body: { model: 'none', input: 'Hello' } }),
  toRow(`GET ${base}/responses`, open('405 method_not_allowed')),
  toRow(`GET ${base}/models`, withAnyKey(200)),
  toRow(`GET ${base}/models/*`, byRole, { at: 'model' }),
]);

/** Clients of the older Azure API call the Responses API at `/openai/responses`. */
const responseRoutes = ['/v1', '/openai/v1', '/openai'].flatMap((base): readonly Row[] => [
  ...['', '/input_tokens', '/compact'].map((below) =>
    toRow(`POST ${base}/responses${below}`, byRole, { body: { model: 'model', input: 'Hello' } }),
  ),
  ...toRows(
    ['GET /:response', 'DELETE /:response', 'POST /:response/cancel', 'GET /:response/input_items'].map((text) =>
      text.replace(' ', ` ${base}/responses`),
    ),
    byAnyKey('404 response_not_found'),
  ),
]);

const conversationRoutes = ['/v1', '/openai/v1'].flatMap((base): readonly Row[] => {
  const url = `${base}/conversations/:conversation`;
  const itemsUrl = base === '/v1' ? `${url}(^conv_[^/]+$)/items` : `${url}/items`;
  const none = byAnyKey('404 response_not_found');
  return [
    toRow(`POST ${base}/conversations`, byAnyKey(200)),
    ...toRows([`GET ${url}`, `POST ${url}`, `DELETE ${url}`, `GET ${itemsUrl}`], none),
    toRow(`POST ${itemsUrl}`, none, { body: { items: [{ role: 'user', content: 'Hello' }] } }),
    ...toRows([`GET ${itemsUrl}/:item`, `DELETE ${itemsUrl}/:item`], none),
  ];
});

/** Each caller creates its own chat `none`. */
const chatRoutes: readonly Row[] = [
  toRow('POST /v1/chats/:chat', byUnboundKey(200)),
  ...toRows(
    [
      '/v1/user/responses',
      '/v1/chats',
      '/v1/chats/:chat',
      '/v1/chats/:chat/shared-files',
      '/v1/chat-changes',
      '/v1/chat-shares',
    ].map((url) => `GET ${url}`),
    byUnboundKey(200),
  ),
  toRow('POST /v1/chats/:chat/shares', byUnboundKey(201)),
  ...toRows(
    ['DELETE /v1/chat-shares/:share', 'GET /v1/shared-chats/:token', 'GET /v1/shared-chats/:token/files/:file'],
    byUnboundKey('404 share_not_found'),
  ),
  ...toRows(['DELETE /v1/chats/:chat', 'DELETE /v1/chats'], byUnboundKey(204)),
  toRow('POST /v1/chat-runs/:run', byAnyKey('400 invalid_request')),
  ...toRows(
    ['GET /v1/chat-runs/:run', 'POST /v1/chat-runs/:run/cancel', 'DELETE /v1/chat-runs/:run'],
    byAnyKey('404 response_not_found'),
  ),
];

const messagesRoutes: readonly Row[] = [
  ...['msgapi', 'anthropic'].flatMap((prefix) => [
    toRow(`POST /${prefix}/v1/messages`, messagesByRole, { body: { model: 'model', max_tokens: 10, messages: hello } }),
    toRow(`POST /${prefix}/v1/messages/count_tokens`, messagesByRole, { body: { model: 'model', messages: hello } }),
  ]),
  toRow('GET /anthropic/v1/models', { ...messagesByRole, roleless: 200, scim: 200 }),
  toRow('GET /anthropic/v1/models/*', { ...messagesByRole, roleless: '403 permission_error' }, { at: 'model' }),
];

const applicationRoutes: readonly Row[] = [
  toRow('GET /v1/applications/*', byOwner(200), { at: madePath }),
  toRow('GET /v1/applications/*', byOwner(200), { at: `${ownerBucket}/` }),
  toRow('PUT /v1/applications/*', byOwner(200), { at: madePath, body: madeApplication }),
  toRow('DELETE /v1/applications/*', byOwner(204), { at: `${ownerBucket}/doomed` }),
  toRow('GET /v1/access/applications/*', byOwner(200), { at: madePath }),
  toRow('PUT /v1/access/applications/*', byOwner(200), { at: madePath, body: { roles: [], users: [] } }),
  toRow('GET /v1/people', byUnboundKey(200), { query: '?search=someone' }),
  toRow('GET /v1/versions/applications/*', byOwner(200), { at: madePath }),
  toRow('GET /v1/versions/applications/*', byOwner(200), { at: `${madePath}?version=1` }),
  toRow('POST /v1/versions/applications/*', byOwner(200), { at: `${madePath}?version=1` }),
  toRow('POST /v1/drafts/applications/*', byOwner(200), {
    at: madePath,
    body: { application: madeApplication, request: { messages: [{ role: 'user', content: canary }] } },
  }),
  toRow('GET /v1/cases/applications/*', byOwner(200), { at: madePath }),
  toRow('POST /v1/cases/applications/*', byOwner(201), { at: madePath, body: { input: canary, checks: [] } }),
  toRow('GET /v1/evaluations/applications/*', byOwner(200), { at: madePath }),
  toRow('POST /v1/evaluations/applications/*', byOwner('404 deployment_not_found'), { at: madePath, body: { version: 1000 } }),
  toRow('PUT /v1/cases/:case', byUnboundKey('404 evaluation_not_found'), { body: { input: 'x' } }),
  toRow('GET /v1/evaluations/:evaluation/comparison', byUnboundKey('404 evaluation_not_found'), {
    query: '?with=none',
  }),
  ...toRows(
    ['DELETE /v1/cases/:case', 'GET /v1/evaluations/:evaluation', 'POST /v1/evaluations/:evaluation/cancel'],
    byUnboundKey('404 evaluation_not_found'),
  ),
];

const toolRoutes: readonly Row[] = [
  toRow('POST /v1/import-openapi', byUnboundKey(200), { body: { document } }),
  toRow('POST /v1/tools/list', byUnboundKey(200), { body: { toolset } }),
  toRow('POST /v1/tools/list', byOwner(200), { body: { toolset, application: savedId } }),
  toRow('POST /v1/tools/run', byUnboundKey(200), { body: { toolset, tool: 'x' } }),
  toRow('POST /v1/tools/run', byOwner(200), { body: { toolset, tool: 'x', application: savedId } }),
];

const consentRoutes: readonly Row[] = [
  toRow('GET /v1/consent', byUnboundKey(200)),
  toRow('GET /v1/consent/*', { ...byRole, bound: denied, chain: denied }, { at: 'app' }),
  toRow('GET /v1/consent/*', byOwner(200), { at: savedId }),
  toRow(
    'POST /v1/consent/*',
    { ...byRole, bound: denied, chain: denied },
    {
      at: 'app',
      body: { consent: { app: { consentRequired: true } } },
    },
  ),
  toRow('DELETE /v1/consent/*', withKeyOnly(204, { roleless: denied, chain: denied }), { at: 'app' }),
];

const listingRoutes: readonly Row[] = [
  ...toRows(['GET /v1/deployment-names', 'GET /v1/user/info'], withAnyKey(200)),
  toRow('GET /v1/prompt-library', withKeyOnly(200)),
  ...['limits', 'configuration', 'documents'].map((name) => toRow('GET /v1/deployments/*', byRole, { at: `model/${name}` })),
  ...['limits', 'documents'].map((name) => toRow('GET /v1/deployments/*', byOwnerAndChain, { at: `${savedId}/${name}` })),
  toRow('POST /v1/deployments/*', byRole, { at: 'model/mcp', body: listTools }),
  toRow('POST /v1/deployments/*', byRole, { at: 'model/mcp', body: callTool }),
  toRow('POST /v1/deployments/*', byOwnerAndChain, { at: `${savedId}/mcp`, body: listTools }),
  toRow('POST /v1/deployments/*', withAnyKey('404 deployment_not_found'), { at: 'none/mcp', body: listTools }),
  toRow('POST /openai/v1/deployments/*', byRole, { at: 'model/chat/completions?api-version=preview', body: chat }),
  toRow('POST /openai/v1/deployments/*', byRole, { at: 'vectors/embeddings', body: { input: 'x' } }),
  toRow('GET /v1/application_type_schemas/schema', withAnyKey(200), { query: '?id=x/custom_application_schemas/quickapps' }),
];

const userRoutes: readonly Row[] = [
  ...toRows(['GET /v1/user/usage', 'GET /v1/user/calls'], byUnboundKey(200)),
  toRow('GET /v1/user/keys', bySignedIn(200)),
  toRow('POST /v1/user/keys', bySignedIn(201), { body: { days: 1 } }),
  ...toRows(['POST /v1/user/keys/:key/rotate', 'DELETE /v1/user/keys/:key'], bySignedIn(noKey)),
];

export const records = {
  prompts: { id: 'p', folderId: 'f', name: canary, content: canary },
  conversations: { id: 'c', folderId: 'f', name: canary, messages: [] },
};

const recordRoutes = Object.entries(records).flatMap(([kind, body]): readonly Row[] => [
  toRow(`PUT /v1/${kind}/*`, byOwner(200), { at: `${ownerBucket}/kept`, body }),
  toRow(`GET /v1/${kind}/*`, byOwner(200), { at: `${ownerBucket}/kept` }),
  toRow(`DELETE /v1/${kind}/*`, byOwner(204), { at: `${ownerBucket}/doomed` }),
]);

const fileRoutes: readonly Row[] = [
  toRow('GET /v1/bucket', withKeyOnly(200)),
  toRow('GET /v1/files/*', byOwnerAndChain, { at: `${ownerBucket}/given` }),
  toRow('GET /v1/files/*', byOwner(200), { at: `${ownerBucket}/kept` }),
  toRow('PUT /v1/files/*', byOwner(200), { at: `${ownerBucket}/given`, body: canary }),
  toRow('PUT /v1/files/*', withKeyOnly(denied), { at: 'public/mine', body: canary }),
  toRow('DELETE /v1/files/*', byOwner(204), { at: `${ownerBucket}/doomed` }),
  ...recordRoutes,
  toRow('GET /v1/metadata/files/*', byOwnerAndChain, { at: `${ownerBucket}/given` }),
  ...['files', 'prompts', 'conversations', 'applications'].flatMap((kind) => {
    const [url, name] = [`GET /v1/metadata/${kind}/*`, kind === 'applications' ? 'made' : 'kept'];
    return [
      toRow(url, byOwner(200), { at: `${ownerBucket}/${name}` }),
      toRow(url, byOwner(200), { at: `${ownerBucket}/` }),
      kind === 'applications'
        ? toRow(url, byUnboundKey(200), { at: 'public/' })
        : toRow(url, withKeyOnly(200), { at: 'public/?recursive=true' }),
    ];
  }),
];

/** Within the owner's bucket. Overwrites the destination. */
function move(kind: string, from: string, to: string): object {
  const base = `${kind}/${ownerBucket}`;
  return { sourceUrl: `${base}/${from}`, destinationUrl: `${base}/${to}`, overwrite: true };
}

/** Gives an application the right to read a file of the owner. */
function share(name: string): object {
  return { resourcePermissions: [{ url: `files/${ownerBucket}/${name}`, permissions: ['READ'] }], receiver: 'app' };
}

const permissions = 'POST /v1/ops/resource/per-request-permissions';
const operationRoutes: readonly Row[] = [
  toRow('POST /v1/ops/resource/move', byOwner(200), { body: move('files', 'gone', 'arrived') }),
  toRow('POST /v1/ops/resource/copy', byOwner(200), { body: move('files', 'kept', 'copied') }),
  toRow('POST /v1/ops/resource/copy', byOwner(200), { body: move('applications', 'made', 'made-again') }),
  toRow('POST /v1/ops/resource/copy', byOwner(200), { body: move('files', 'given', 'given-again') }),
  toRow(`${permissions}/grant`, withKeyOnly(denied, { chain: 200 }), { body: share('given') }),
  toRow(`${permissions}/revoke`, withKeyOnly(denied, { chain: 200 }), { body: share('given') }),
  toRow(`${permissions}/list`, withKeyOnly(denied, { chain: 200 })),
  toRow(`${permissions}/grant`, withKeyOnly(denied), { body: share('kept') }),
  toRow('POST /v1/ops/resource/share/list', byUnboundKey(200), { body: { resourceTypes: ['FILE'], with: 'me' } }),
  toRow('POST /v1/ops/publication/list', byUnboundKey(200), { body: { url: 'publications/public/' } }),
];

/** Every route, with requests that show its guards. docs/roles.md is generated from it. */
export const routeTable: readonly Row[] = [
  ...responseRoutes,
  ...conversationRoutes,
  ...chatRoutes,
  ...deploymentRoutes,
  ...messagesRoutes,
  ...openAiRoutes,
  ...listingRoutes,
  ...toolRoutes,
  ...applicationRoutes,
  ...consentRoutes,
  ...administrationRoutes,
  ...scimRoutes,
  ...userRoutes,
  ...fileRoutes,
  ...operationRoutes,
  ...toRows(
    [
      ...['/custom_application_schemas/quickapps', '/v1/sign-in', '/health', '/ready', '/metrics', '/openapi.json', '/docs'],
      ...['/docs/start.js', '/docs/scalar.js'],
    ].map((path) => `GET ${path}`),
    open(200),
  ),
];
