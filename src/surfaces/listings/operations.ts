import { type ApiOperation, inPath, json, listOf, type NamedSchema, type Schema } from '../http/operation.ts';
import { keyErrors } from '../http/operation-errors.ts';
import { exampleNames } from '../http/operation-examples.ts';

const text: Schema = { type: 'string' };
const count: Schema = { type: 'integer', minimum: 0 };
const price: Schema = { type: 'number', description: 'USD a token.' };
const seconds: Schema = { type: 'integer', description: 'Seconds since the epoch.' };

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
      owner: { ...text, description: 'The bucket of the user who made it, or `organization-owner`.' },
      owned_by: { ...text, description: 'The same.' },
      status: text,
      created: seconds,
      created_at: seconds,
      updated_at: seconds,
      features: { type: 'object', description: 'As configured.' },
      dependencies: { type: 'array', items: text, description: 'Ids of the deployments it calls.' },
      input_attachment_types: { type: 'array', items: text },
      max_input_attachments: count,
      capabilities: {
        type: 'object',
        description: 'Of models.',
        properties: { chat_completion: { type: 'boolean' }, embeddings: { type: 'boolean' } },
      },
      limits: {
        type: 'object',
        description: 'Of models: bounds of one call, in tokens.',
        properties: { max_total_tokens: count, max_prompt_tokens: count, max_completion_tokens: count },
      },
      pricing: {
        type: 'object',
        description: 'Of models.',
        properties: { unit: { const: 'token' }, prompt: price, completion: price, cache_read: price, cache_write: price },
      },
    },
  },
};

const items: NamedSchema = { name: 'DeploymentList', schema: listOf(item) };

interface Listing {
  readonly base: string;
  readonly kind: string;
  readonly suffix: string;
}

/** Listings below each prefix, such as `openai`, and `/v1/models` of the service and of each alias of `compat`. */
export function listingOperations(prefixes: readonly string[]): ApiOperation[] {
  const listings = prefixes.flatMap((prefix) =>
    ['deployments', 'models', 'applications'].map((kind) => ({ base: `/${prefix}/${kind}`, kind, suffix: `${kind}_${prefix}` })),
  );
  const all = { base: '/v1/models', kind: 'models and applications', suffix: 'models_v1' };
  const aliases = prefixes.filter((prefix) => prefix !== 'compat');
  const again = aliases.map((alias) => ({ ...all, base: `/${alias}/v1/models`, suffix: `models_v1_${alias}` }));
  return [...listings, all, ...again].flatMap(toOperations);
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
