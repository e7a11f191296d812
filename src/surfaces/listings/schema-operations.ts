import { quickAppSuffix } from '#contract/quick-app/schema-id.ts';
import { type ApiOperation, anyObject, inQuery } from '../http/operations/operation.ts';
import { keyErrors } from '../http/operations/operation-errors.ts';

const answers = [
  {
    status: 200,
    description: 'The schema, in the draft 2020-12.',
    content: [{ type: 'application/schema+json', schema: anyObject }],
  },
];

/** The JSON Schema of quick apps, by its id and at its own path. */
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
