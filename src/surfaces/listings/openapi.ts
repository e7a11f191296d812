import { quickAppSuffix } from '#contract/quick-app/form.ts';
import {
  type ApiOperation,
  anyObject,
  buildArray,
  buildList,
  buildObject,
  inQuery,
  listOperations,
  type NamedSchema,
  nameSchema,
  reply,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/openapi/operation-examples.ts';
import { count } from '../http/openapi/shared-schemas.ts';
import { deploymentKinds } from './routes.ts';

const price: Schema = { type: 'string', description: 'USD per token, in decimal digits.' };
const seconds: Schema = { type: 'integer', description: 'Seconds since the epoch.' };
const flag: Schema = { type: 'boolean' };

/** Features that every deployment lists. */
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
  description: 'Features of the deployment. Other configured features are included unchanged, except URLs.',
  required: [...featureFlags, 'consentRequired'],
  properties: {
    ...Object.fromEntries(featureFlags.map((name) => [name, flag])),
    consentRequired: { ...flag, description: 'Whether applications need the consent of the user before they call it.' },
  },
  additionalProperties: true,
};

const modelFields = {
  lifecycle_status: { const: 'generally-available', description: 'Only for models.' },
  capabilities: {
    type: 'object',
    description: 'Only for models.',
    properties: {
      scale_types: buildArray(text),
      completion: flag,
      chat_completion: flag,
      embeddings: flag,
      fine_tune: flag,
      inference: flag,
      apis: {
        ...buildArray(text),
        description: 'Paths below `/v1` that reach the model, such as `chat/completions` or `audio/speech`.',
      },
    },
  },
  limits: {
    type: 'object',
    description: 'Only for models. Limits of one call, in tokens.',
    properties: { max_total_tokens: count, max_prompt_tokens: count, max_completion_tokens: count },
  },
  defaults: {
    type: 'object',
    description: 'Only for models. Default values of request fields.',
    additionalProperties: true,
  },
  pricing: {
    type: 'object',
    description: 'Only for models.',
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
const modelListFields = {
  type: { const: 'model', description: 'In `/v1/models`.' },
  context_length: { ...count, description: 'In `/v1/models`. Maximum prompt tokens. Absent if not configured.' },
  context_window: { ...count, description: 'Same as `context_length`.' },
  max_model_len: { ...count, description: 'Same as `context_length`.' },
  max_input_tokens: { ...count, description: 'Same as `context_length`.' },
  max_output_tokens: { ...count, description: 'In `/v1/models`. Maximum completion tokens. Absent if not configured.' },
  architecture: {
    type: 'object',
    description: 'In `/v1/models`. Input and output modalities, such as `text` and `image`.',
    properties: { input_modalities: buildArray(text), output_modalities: buildArray(text) },
  },
  supported_parameters: { ...buildArray(text), description: 'In `/v1/models`. Supported request fields.' },
};

const applicationFields = {
  application: { ...text, description: 'Same as `id`, in listings of applications.' },
  application_type_schema_id: { ...text, description: 'ID of the application type, in listings of applications.' },
  application_properties: {
    type: 'object',
    description:
      'Settings of the application without secrets, for its owner and for administrators. Other users get only `starters`.',
    additionalProperties: true,
  },
};

const deploymentItem = nameSchema('DeploymentItem', {
  type: 'object',
  required: ['id', 'object', 'created', 'created_at', 'owned_by', 'features'],
  properties: {
    id: text,
    object: {
      enum: ['model', 'application', 'deployment'],
      description: 'In `/v1/models`, always `model`. In listings of deployments, `deployment` for an application.',
    },
    model: { ...text, description: 'Same as `id`, for models and in listings of deployments.' },
    reference: { ...text, description: 'Same as `id`.' },
    name: { ...text, description: 'In `/v1/models`. Display name with its version.' },
    display_name: text,
    display_version: text,
    description: text,
    icon_url: text,
    owner: {
      ...text,
      description: 'Bucket of the user who saved the application. `organization-owner` for configured deployments.',
    },
    owned_by: { ...text, description: 'Same as `owner`.' },
    owner_name: {
      ...text,
      description: 'Name of the owner, if the owner shared at least one of the listed applications directly with the user.',
    },
    status: text,
    created: seconds,
    created_at: seconds,
    updated_at: seconds,
    features,
    dependencies: { ...buildArray(text), description: 'IDs of the deployments that it calls.' },
    input_attachment_types: buildArray(text),
    max_input_attachments: count,
    ...modelListFields,
    ...modelFields,
    ...applicationFields,
  },
});

const deploymentList: NamedSchema = { name: 'DeploymentList', schema: buildList(deploymentItem) };

const shared = { tag: 'Listings', errors: keyErrors } as const;
const deploymentNameOperations = listOperations(shared, {
  'get /v1/deployment-names': {
    id: 'listDeploymentNames',
    summary: 'Lists the IDs of deployments that the caller may use',
    parameters: [
      inQuery('type', `Comma-separated kinds: ${deploymentKinds.join(', ')}. The default is models and applications.`, {
        example: 'model,application',
        schema: { type: 'string', pattern: `^(${deploymentKinds.join('|')})(,(${deploymentKinds.join('|')}))*$` },
      }),
    ],
    responses: [reply(200, 'The IDs and kinds.', buildArray(buildObject({ id: text, object: { enum: deploymentKinds } })))],
    errors: ['invalid_request'],
  },
});

const addonList = nameSchema(
  'AddonList',
  buildList({
    type: 'object',
    required: ['id', 'object', 'addon'],
    properties: {
      id: text,
      object: { const: 'addon' },
      addon: { ...text, description: 'Same as `id`.' },
      display_name: text,
      description: text,
      owner: text,
      status: text,
      created_at: seconds,
      updated_at: seconds,
    },
  }),
);

const schemaContent = [{ type: 'application/schema+json', schema: anyObject }];
const responses = [{ status: 200, description: 'The schema, in draft 2020-12.', content: schemaContent }];

/** Operations for the JSON Schema of quick apps, by its ID and at its own path. */
export const schemaOperations = listOperations(
  { tag: 'Applications', errors: keyErrors },
  {
    'get /v1/application_type_schemas/schema': {
      id: 'getApplicationTypeSchema',
      summary: 'Returns the JSON Schema of the settings of an application type',
      parameters: [
        inQuery('id', `ID of the type. It must end with \`${quickAppSuffix}\`.`, {
          required: true,
          example: `https://parley.example${quickAppSuffix}`,
        }),
      ],
      responses,
      errors: ['invalid_request', 'route_not_found'],
    },
    [`get ${quickAppSuffix}`]: {
      id: 'getQuickAppSchema',
      summary: 'Returns the JSON Schema of the settings of a quick app',
      responses,
      isOpen: true,
    },
  },
);

interface ListingPath {
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
  const aliasListings = aliases.map((alias) => ({ ...all, base: `/${alias}/v1/models`, suffix: `models_v1_${alias}` }));
  return [...[...listings, all, ...aliasListings].flatMap(toOperations), ...deploymentNameOperations];
}

function toOperations({ base, kind, suffix }: ListingPath): ApiOperation[] {
  return listOperations(shared, {
    [`get ${base}`]: {
      id: `list_${suffix}`,
      summary: `Lists the ${kind} that the caller may use`,
      responses: [reply(200, 'The list.', deploymentList)],
    },
    [`get ${base}/{id}`]: {
      id: `get_${suffix}`,
      summary: `Returns one of the ${kind}`,
      parameters: [inDeploymentPath(kind === 'applications' ? exampleNames.application : exampleNames.chat)],
      responses: [reply(200, 'The deployment.', deploymentItem)],
      errors: ['access_denied', 'deployment_not_found'],
    },
  });
}

/** Returns the operations for addons and assistants below each prefix, such as `openai`. */
export function addonOperations(prefixes: readonly string[]): ApiOperation[] {
  return prefixes.flatMap((prefix) =>
    listOperations(shared, {
      [`get /${prefix}/addons`]: {
        id: `list_addons_${prefix}`,
        summary: 'Lists the addons that a request can name',
        responses: [reply(200, 'The list.', addonList)],
      },
      [`get /${prefix}/assistants`]: {
        id: `list_assistants_${prefix}`,
        summary: 'Lists assistants (always empty)',
        responses: [reply(200, 'An empty list.', buildList({ type: 'object' }))],
      },
    }),
  );
}
