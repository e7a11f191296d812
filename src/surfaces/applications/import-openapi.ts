import { RestToolset } from '#contract/quick-app/toolsets.ts';
import { ImportRequest } from '#contract/tool-requests.ts';
import { json, listOperations, nameObject, reply } from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';

const imported = nameObject('ImportedToolsets', {
  toolsets: {
    type: 'array',
    items: RestToolset,
    description: 'For `web_api_toolset`. Each secret is replaced by the name of a variable.',
  },
  notes: { type: 'array', items: { type: 'string' }, description: 'Parts that were left out, with the reasons.' },
});

const document = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example' }],
  paths: {
    '/items': {
      get: { operationId: 'list_items', summary: 'Lists the items', responses: { '200': { description: 'The items' } } },
    },
  },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
};

const shared = { tag: 'Applications', errors: [...keyErrors, ...bodyErrors, 'access_denied'] } as const;

export const importOperations = listOperations(shared, {
  'post /v1/import-openapi': {
    id: 'importOpenApi',
    summary: 'Converts an OpenAPI document into tools of a quick app',
    description:
      'The document may be OpenAPI 2.0, 3.0, or 3.1. Parley does not save the toolsets. Review them, then add them to the settings of a quick app.',
    body: json(
      { name: 'ImportRequest', schema: ImportRequest },
      { document: { summary: 'A document in the request', value: { document, include: ['list_items'] } } },
    ),
    responses: [reply(200, 'The toolsets.', imported)],
  },
});
