import { type ApiOperation, json, listOf, type NamedSchema, type Schema } from '../http/operations/operation.ts';
import { keyErrors } from '../http/operations/operation-errors.ts';

const text: Schema = { type: 'string' };
const seconds: Schema = { type: 'integer', description: 'Seconds since the epoch.' };

const addons: NamedSchema = {
  name: 'AddonList',
  schema: listOf({
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

/** Listings of what is no deployment, below each prefix, such as `openai`. */
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
      answers: [{ status: 200, description: 'An empty list.', content: json(listOf({ type: 'object' })) }],
      errors: keyErrors,
    },
  ]);
}
