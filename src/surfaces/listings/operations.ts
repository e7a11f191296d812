import { quickAppSuffix } from '#contract/quick-app/schema-id.ts';
import {
  type ApiOperation,
  anyObject,
  buildArray,
  buildList,
  buildObject,
  inPath,
  inQuery,
  json,
  type NamedSchema,
  type Schema,
} from '../http/operations/operation.ts';
import { keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames } from '../http/operations/operation-examples.ts';
import { deploymentKinds } from './deployment-kinds.ts';

const text: Schema = { type: 'string' };
const count: Schema = { type: 'integer', minimum: 0 };
const price: Schema = { type: 'string', description: 'USD a token, in decimal digits.' };
const seconds: Schema = { type: 'integer', description: 'Seconds since the epoch.' };
const flag: Schema = { type: 'boolean' };

/** Feature flags that clients read. */
const featureFlags = [
  'rate',
  'tokenize',
  'truncate_prompt',
  'configuration',
  'system_prompt',
  'tools',
  'seed',
  'url_attachments',
  'folder_attachments',
  'allow_resume',
  'accessible_by_per_request_key',
];

const features: Schema = {
  type: 'object',
  description: 'What it can do. Further features are as configured, but for addresses.',
  required: [...featureFlags, 'consentRequired'],
  properties: {
    ...Object.fromEntries(featureFlags.map((name) => [name, flag])),
    consentRequired: { ...flag, description: 'Whether applications need the consent of the user before they call it.' },
  },
  additionalProperties: true,
};

const ofModels = {
  lifecycle_status: { const: 'generally-available', description: 'Of models.' },
  capabilities: {
    type: 'object',
    description: 'Of models.',
    properties: {
      scale_types: { type: 'array', items: text },
      completion: flag,
      chat_completion: flag,
      embeddings: flag,
      fine_tune: flag,
      inference: flag,
      apis: {
        type: 'array',
        items: text,
        description: 'Paths below `/v1` at which the model answers, such as `chat/completions` or `audio/speech`.',
      },
    },
  },
  limits: {
    type: 'object',
    description: 'Of models: bounds of one call, in tokens.',
    properties: { max_total_tokens: count, max_prompt_tokens: count, max_completion_tokens: count },
  },
  defaults: {
    type: 'object',
    description: 'Of models: fields put into a request that does not have them.',
    additionalProperties: true,
  },
  pricing: {
    type: 'object',
    description: 'Of models.',
    properties: {
      unit: { const: 'token' },
      request: price,
      prompt: price,
      completion: price,
      cache_read: price,
      cache_write: price,
      cache_write_1h: price,
    },
  },
};

/** Additional fields of `/v1/models`, with the names that clients of other services read. */
const inModels = {
  type: { const: 'model', description: 'In `/v1/models`.' },
  context_length: { ...count, description: 'In `/v1/models`: tokens of a prompt. Absent: not configured.' },
  context_window: { ...count, description: 'The same.' },
  max_model_len: { ...count, description: 'The same.' },
  max_input_tokens: { ...count, description: 'The same.' },
  max_output_tokens: { ...count, description: 'In `/v1/models`: tokens of a reply. Absent: not configured.' },
  architecture: {
    type: 'object',
    description: 'In `/v1/models`: what it reads and writes, such as `text` and `image`.',
    properties: { input_modalities: { type: 'array', items: text }, output_modalities: { type: 'array', items: text } },
  },
  supported_parameters: { type: 'array', items: text, description: 'In `/v1/models`: fields of a request that it knows.' },
};

const ofApplications = {
  application: { ...text, description: 'The id again, in listings of applications.' },
  application_type_schema_id: { ...text, description: 'Of applications of a type, in listings of applications.' },
  application_properties: {
    type: 'object',
    description: 'Its settings without secrets, for its owner and for administrators. Other callers get only `starters`.',
    additionalProperties: true,
  },
};

const item: NamedSchema = {
  name: 'DeploymentItem',
  schema: {
    type: 'object',
    required: ['id', 'object', 'created', 'created_at', 'owned_by', 'features'],
    properties: {
      id: text,
      object: {
        enum: ['model', 'application', 'deployment'],
        description: 'In `/v1/models` everything is a `model`; among deployments an application is a `deployment`.',
      },
      model: { ...text, description: 'The id again: of models, and of everything among deployments.' },
      reference: { ...text, description: 'The same as `id`.' },
      name: { ...text, description: 'In `/v1/models`: what pages show, `display_name` with its version.' },
      display_name: text,
      display_version: text,
      description: text,
      icon_url: text,
      owner: { ...text, description: 'The bucket of the user who made it, or `organization-owner`.' },
      owned_by: { ...text, description: 'The same.' },
      status: text,
      created: seconds,
      created_at: seconds,
      updated_at: seconds,
      features,
      dependencies: { type: 'array', items: text, description: 'Ids of the deployments it calls.' },
      input_attachment_types: { type: 'array', items: text },
      max_input_attachments: count,
      ...inModels,
      ...ofModels,
      ...ofApplications,
    },
  },
};

const items: NamedSchema = { name: 'DeploymentList', schema: buildList(item) };

const names: ApiOperation = {
  method: 'get',
  path: '/v1/deployment-names',
  id: 'listDeploymentNames',
  tag: 'Listings',
  summary: 'Names what the caller may use',
  parameters: [
    inQuery('type', `Which of ${deploymentKinds.join(', ')}, with commas between them. Absent: models and applications.`, {
      example: 'model,application',
      schema: { type: 'string', pattern: `^(${deploymentKinds.join('|')})(,(${deploymentKinds.join('|')}))*$` },
    }),
  ],
  answers: [
    {
      status: 200,
      description: 'Their ids.',
      content: json(buildArray(buildObject({ id: text, object: { enum: deploymentKinds } }))),
    },
  ],
  errors: [...keyErrors, 'invalid_request'],
};

const addons: NamedSchema = {
  name: 'AddonList',
  schema: buildList({
    type: 'object',
    required: ['id', 'object', 'addon'],
    properties: {
      id: text,
      object: { const: 'addon' },
      addon: { ...text, description: 'The same as `id`.' },
      display_name: text,
      description: text,
      owner: text,
      status: text,
      created_at: seconds,
      updated_at: seconds,
    },
  }),
};

const answers = [
  {
    status: 200,
    description: 'The schema, in the draft 2020-12.',
    content: [{ type: 'application/schema+json', schema: anyObject }],
  },
];

/** Operations for the JSON Schema of quick apps, by its id and at its own path. */
export const schemaOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/application_type_schemas/schema',
    id: 'getApplicationTypeSchema',
    tag: 'Applications',
    summary: 'The JSON Schema of the settings of an application type',
    parameters: [
      inQuery('id', `Id of the type; any that ends in \`${quickAppSuffix}\`.`, {
        required: true,
        example: `https://parley.example${quickAppSuffix}`,
      }),
    ],
    answers,
    errors: [...keyErrors, 'invalid_request', 'route_not_found'],
  },
  {
    method: 'get',
    path: quickAppSuffix,
    id: 'getQuickAppSchema',
    tag: 'Applications',
    summary: 'The JSON Schema of the settings of a quick app, at its own address',
    answers,
    isOpen: true,
  },
];

interface Listing {
  readonly base: string;
  readonly kind: string;
  readonly suffix: string;
}

/**
 * Returns the operations for listings below each prefix, such as `openai`, and for `/v1/models` of the service and of each alias
 * of `compat`.
 */
export function listingOperations(prefixes: readonly string[]): ApiOperation[] {
  const listings = prefixes.flatMap((prefix) =>
    ['deployments', 'models', 'applications'].map((kind) => ({ base: `/${prefix}/${kind}`, kind, suffix: `${kind}_${prefix}` })),
  );
  const all = { base: '/v1/models', kind: 'models and applications', suffix: 'models_v1' };
  const aliases = prefixes.filter((prefix) => prefix !== 'compat');
  const again = aliases.map((alias) => ({ ...all, base: `/${alias}/v1/models`, suffix: `models_v1_${alias}` }));
  return [...[...listings, all, ...again].flatMap(toOperations), names];
}

function toOperations({ base, kind, suffix }: Listing): ApiOperation[] {
  return [
    {
      method: 'get',
      path: base,
      id: `list_${suffix}`,
      tag: 'Listings',
      summary: `Lists the ${kind} that the caller may use`,
      answers: [{ status: 200, description: 'The list.', content: json(items) }],
      errors: keyErrors,
    },
    {
      method: 'get',
      path: `${base}/{id}`,
      id: `get_${suffix}`,
      tag: 'Listings',
      summary: `Shows one of the ${kind}`,
      parameters: [
        inPath('id', 'Its id; it may hold slashes.', kind === 'applications' ? exampleNames.application : exampleNames.chat),
      ],
      answers: [{ status: 200, description: 'The deployment.', content: json(item) }],
      errors: [...keyErrors, 'access_denied', 'deployment_not_found'],
    },
  ];
}

/** Returns the operations for addons and assistants below each prefix, such as `openai`. */
export function addonOperations(prefixes: readonly string[]): ApiOperation[] {
  return prefixes.flatMap((prefix): ApiOperation[] => [
    {
      method: 'get',
      path: `/${prefix}/addons`,
      id: `list_addons_${prefix}`,
      tag: 'Listings',
      summary: 'Lists the addons that a request can name',
      answers: [{ status: 200, description: 'The list.', content: json(addons) }],
      errors: keyErrors,
    },
    {
      method: 'get',
      path: `/${prefix}/assistants`,
      id: `list_assistants_${prefix}`,
      tag: 'Listings',
      summary: 'Lists assistants, of which there are none',
      answers: [{ status: 200, description: 'An empty list.', content: json(buildList({ type: 'object' })) }],
      errors: keyErrors,
    },
  ]);
}
