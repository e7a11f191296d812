import type { ErrorCode } from '#contract/errors/errors.ts';
import { toStatsName, windows } from '#domain/limits/windows.ts';
import {
  type ApiOperation,
  asItCame,
  buildList,
  buildObject,
  buildOptionalObject,
  json,
  type NamedSchema,
  type Schema,
} from '../http/operations/operation.ts';
import { keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/operations/operation-examples.ts';

const text: Schema = { type: 'string' };

const windowStats: NamedSchema = {
  name: 'WindowStats',
  schema: buildObject(
    {
      total: { type: ['number', 'null'], description: 'Tokens, requests or USD; null: unlimited, and not counted.' },
      used: { type: 'number' },
      reserved: { type: 'number', description: 'What calls under way may come to use. Absent if there are none.' },
      resetsAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
    },
    ['reserved'],
  ),
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
    properties: {
      ...{ user: text, project: text, roles: { type: 'array', items: text } },
      titleModel: { type: 'string', description: 'The model that names conversations of the page, if one is configured.' },
      selfService: {
        type: 'object',
        required: ['keys', 'maxDays'],
        properties: { keys: { type: 'integer' }, maxDays: { type: 'integer' } },
        description:
          'How many keys in force the user may make (`POST /v1/user/keys`), and how many days each may live. Absent: none.',
      },
      sharesChats: { type: 'boolean', description: 'True if chats can be shared by a link.' },
    },
  },
};

const documentList: NamedSchema = {
  name: 'DocumentList',
  schema: buildList(
    buildObject(
      {
        name: text,
        reference: {
          type: 'string',
          description: 'That of the stored file. Only the maker of the application and administrators are told.',
        },
        state: { enum: ['waiting', 'indexing', 'ready', 'failed'] },
        searchable: { type: 'boolean', description: 'Whether it is found by its words already.' },
        reason: { type: ['string', 'null'], description: 'Why it failed, or what of it could not be read.' },
        passages: buildObject({
          done: { type: 'integer', description: 'Those that are found by their meaning.' },
          total: { type: ['integer', 'null'], description: 'null until the document was read.' },
        }),
      },
      ['reference'],
    ),
  ),
};

const starters: NamedSchema = {
  name: 'DeploymentConfiguration',
  schema: buildOptionalObject({
    starters: { type: 'array', items: text },
    schema: { type: 'object', description: 'JSON Schema of the choice: its property `starter` has one of them.' },
  }),
};

const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'deployment_not_found'];

/** Operations for the user's limits, and for details of a deployment. */
export const callerOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/deployments/{id}/limits',
    id: 'getLimits',
    tag: 'Limits',
    summary: 'What the caller has used of its limits on a deployment',
    description: 'Costs are those of all deployments together.',
    parameters: [inDeploymentPath()],
    answers: [{ status: 200, description: 'Every window.', content: json(limitStats) }],
    errors,
  },
  {
    method: 'get',
    path: '/v1/deployments/{id}/documents',
    id: 'getDocuments',
    tag: 'Listings',
    summary: 'How far the documents of an application are on their way into the index',
    description: 'Indexing that had stopped starts again.',
    parameters: [inDeploymentPath(exampleNames.application)],
    answers: [{ status: 200, description: 'Every document; none if the deployment has none.', content: json(documentList) }],
    errors,
  },
  {
    method: 'get',
    path: '/v1/deployments/{id}/configuration',
    id: 'getDeploymentConfiguration',
    tag: 'Applications',
    summary: 'Prompts to begin with',
    description:
      'Those of a quick app, then those that it takes over from its MCP servers (`prompts`). If the deployment has a program of its own for this, its answer is relayed; others have none: `{}`.',
    parameters: [inDeploymentPath(exampleNames.application)],
    answers: [{ status: 200, description: 'The prompts, and the schema of the choice.', content: json(starters) }, asItCame],
    errors,
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
