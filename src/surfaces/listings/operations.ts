import { toStatsName, windows } from '#domain/limits/windows.ts';
import { type ApiOperation, inPath, json, keyErrors, listOf, type NamedSchema } from '../http/operation.ts';

const text = { type: 'string' };

const item: NamedSchema = {
  name: 'DeploymentItem',
  schema: {
    type: 'object',
    required: ['id', 'object'],
    properties: {
      id: text,
      object: { enum: ['model', 'application'] },
      display_name: text,
      display_version: text,
      description: text,
      icon_url: text,
      owner: text,
      status: text,
      created_at: { type: 'integer', description: 'Seconds since the epoch.' },
      updated_at: { type: 'integer', description: 'Seconds since the epoch.' },
      features: { type: 'object' },
      input_attachment_types: { type: 'array', items: text },
      max_input_attachments: { type: 'integer' },
      capabilities: { type: 'object', description: 'Of models.' },
      limits: { type: 'object', description: 'Of models.' },
      pricing: { type: 'object', description: 'Of models.' },
    },
  },
};

const items: NamedSchema = {
  name: 'DeploymentList',
  schema: listOf({ $ref: '#/components/schemas/DeploymentItem' }),
};

const windowStats = {
  type: 'object',
  required: ['total', 'used', 'resetsAt'],
  properties: {
    total: { type: ['number', 'null'], description: 'Tokens, requests or USD; null: unlimited, and not counted.' },
    used: { type: 'number' },
    resetsAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
  },
};

const statsNames = windows.map(toStatsName);

const limitStats: NamedSchema = {
  name: 'LimitStats',
  schema: { type: 'object', required: statsNames, properties: Object.fromEntries(statsNames.map((name) => [name, windowStats])) },
};

const userInfo: NamedSchema = {
  name: 'UserInfo',
  schema: {
    type: 'object',
    required: ['user', 'project', 'roles'],
    properties: { user: text, project: text, roles: { type: 'array', items: text } },
  },
};

const documentList: NamedSchema = {
  name: 'DocumentList',
  schema: listOf({
    type: 'object',
    required: ['name', 'state', 'searchable', 'reason', 'passages'],
    properties: {
      name: text,
      reference: {
        type: 'string',
        description: 'Of the stored file; told to the maker of the application and to administrators.',
      },
      state: { enum: ['waiting', 'indexing', 'ready', 'failed'] },
      searchable: { type: 'boolean', description: 'Whether its words are found already.' },
      reason: { type: ['string', 'null'], description: 'Why it failed, or what of it could not be read.' },
      passages: {
        type: 'object',
        required: ['done', 'total'],
        properties: {
          done: { type: 'integer', description: 'Those that are found by what they mean.' },
          total: { type: ['integer', 'null'], description: 'null until it was read.' },
        },
      },
    },
  }),
};

const callerOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/deployments/{id}/limits',
    id: 'getLimits',
    tag: 'Limits',
    summary: 'What the caller has used of its limits on a deployment',
    description: 'Costs are those of all deployments together.',
    parameters: [inPath('id', 'Id of the deployment; it may hold slashes.')],
    answers: [{ status: 200, description: 'Every window.', content: json(limitStats) }],
    errors: [...keyErrors, 'access_denied', 'deployment_not_found'],
  },
  {
    method: 'get',
    path: '/v1/deployments/{id}/documents',
    id: 'getDocuments',
    tag: 'Listings',
    summary: 'How far the documents of an application are on their way into the index',
    description: 'What stopped is begun again.',
    parameters: [inPath('id', 'Id of the deployment; it may hold slashes.')],
    answers: [{ status: 200, description: 'Every document; none for a deployment without.', content: json(documentList) }],
    errors: [...keyErrors, 'access_denied', 'deployment_not_found'],
  },
  {
    method: 'get',
    path: '/v1/user/info',
    id: 'getUserInfo',
    tag: 'Limits',
    summary: 'Whom the key or token stands for',
    answers: [{ status: 200, description: 'User, project and roles.', content: json(userInfo) }],
    errors: keyErrors,
  },
];

/** Listings below each prefix, such as `openai`, and `/v1/models`; what a caller is, and what is left to it. */
export function listingOperations(prefixes: readonly string[]): ApiOperation[] {
  const kinds = prefixes.flatMap((prefix) =>
    ['deployments', 'models', 'applications'].map((kind) => ({ base: `/${prefix}/${kind}`, kind, suffix: `${kind}_${prefix}` })),
  );
  const listings = [...kinds, { base: '/v1/models', kind: 'models', suffix: 'models_v1' }].flatMap(toOperations);
  return [...listings, ...callerOperations];
}

function toOperations({ base, kind, suffix }: { base: string; kind: string; suffix: string }): ApiOperation[] {
  return [
    {
      method: 'get',
      path: base,
      id: `list_${suffix}`,
      tag: 'Listings',
      summary: `Lists the ${kind} the caller may use`,
      answers: [{ status: 200, description: 'The list.', content: json(items) }],
      errors: keyErrors,
    },
    {
      method: 'get',
      path: `${base}/{id}`,
      id: `get_${suffix}`,
      tag: 'Listings',
      summary: `Shows one of the ${kind}`,
      parameters: [inPath('id', 'Its id; it may hold slashes.')],
      answers: [{ status: 200, description: 'It.', content: json(item) }],
      errors: [...keyErrors, 'access_denied', 'deployment_not_found'],
    },
  ];
}
