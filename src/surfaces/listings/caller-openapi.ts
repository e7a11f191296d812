import type { ErrorCode } from '#contract/errors/errors.ts';
import { toStatsName, windows } from '#domain/limits/windows.ts';
import {
  buildArray,
  buildList,
  buildObject,
  buildOptionalObject,
  listOperations,
  nameObject,
  nameSchema,
  reply,
  text,
  unchangedAnswer,
} from '../http/openapi/operation.ts';
import { keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/openapi/operation-examples.ts';
import { limitUsage } from '../http/openapi/shared-schemas.ts';

const windowStats = nameObject(
  'WindowStats',
  {
    total: {
      type: ['number', 'null'],
      description: 'Tokens, requests, USD, or calls in progress. Null if the window has no limit. Its usage is then not counted.',
    },
    used: { type: 'number' },
    reserved: { type: 'number', description: 'Amount reserved for calls in progress. Absent if it is 0.' },
    resetsAt: { type: 'integer', description: 'Milliseconds since the epoch. Absent for calls in progress.' },
  },
  ['reserved', 'resetsAt'],
);

const limitStats = nameObject(
  'LimitStats',
  {
    ...Object.fromEntries(windows.map((window) => [toStatsName(window), windowStats])),
    scopes: {
      ...buildArray(limitUsage),
      description: 'Limits of the project, the key, and the user. Absent if the call has no such limits.',
    },
  },
  ['scopes'],
);

const userInfo = nameObject(
  'UserInfo',
  {
    ...{ user: text, project: text, roles: buildArray(text) },
    titleModel: { type: 'string', description: 'The model that names conversations of the page, if one is configured.' },
    selfService: {
      ...buildObject({ keys: { type: 'integer' }, maxDays: { type: 'integer' } }),
      description:
        'Maximum number of active keys that the user may create (`POST /v1/user/keys`), and their maximum lifetime in days. Absent if the user may not create keys.',
    },
    runsChats: {
      type: 'boolean',
      description: 'Whether the answers of chats can run in the background. Absent if not.',
    },
    hasAddons: { type: 'boolean', description: 'Whether there are addons (`GET /openai/addons`). Absent if not.' },
    sharesChats: { type: 'boolean', description: 'Whether chats can be shared by a link. Absent if not.' },
    storesFiles: {
      type: 'boolean',
      description: 'Whether the user has a bucket for files and prompts (`GET /v1/bucket`). Absent if not.',
    },
  },
  ['titleModel', 'selfService', 'runsChats', 'hasAddons', 'sharesChats', 'storesFiles'],
);

const documentList = nameSchema(
  'DocumentList',
  buildList(
    buildObject(
      {
        name: text,
        reference: {
          type: 'string',
          description: 'Reference of the stored file. Present only for the owner of the application and for administrators.',
        },
        state: { enum: ['waiting', 'indexing', 'ready', 'failed'] },
        searchable: { type: 'boolean', description: 'Whether keyword search already finds the document.' },
        reason: { type: ['string', 'null'], description: 'Reason that indexing failed, or the part that could not be read.' },
        passages: buildObject({
          done: { type: 'integer', description: 'Number of passages that semantic search finds.' },
          total: { type: ['integer', 'null'], description: 'Number of passages. Null until the document is read.' },
        }),
      },
      ['reference'],
    ),
  ),
);

const starters = nameSchema(
  'DeploymentConfiguration',
  buildOptionalObject({
    starters: buildArray(text),
    schema: { type: 'object', description: 'JSON Schema of the choice: its property `starter` has one of them.' },
  }),
);

const promptLibrary = nameSchema('PromptLibrary', buildList(buildObject({ name: text, content: text })));

const errors: readonly ErrorCode[] = ['access_denied', 'deployment_not_found'];

const shared = { tag: 'Listings', errors: keyErrors } as const;

/** Operations for the user's limits, and for details of a deployment. */
export const callerOperations = listOperations(shared, {
  'get /v1/deployments/{id}/limits': {
    id: 'getLimits',
    tag: 'Limits',
    summary: 'Returns the limits and the usage of the caller on a deployment',
    description: 'Costs are the sum over all deployments. The windows contain the limits of the roles.',
    parameters: [inDeploymentPath()],
    responses: [reply(200, 'The windows.', limitStats)],
    errors,
  },
  'get /v1/deployments/{id}/documents': {
    id: 'getDocuments',
    summary: 'Returns the indexing progress of the documents of an application',
    description: 'The request restarts indexing that stopped.',
    parameters: [inDeploymentPath(exampleNames.application)],
    responses: [reply(200, 'The documents. Empty if the deployment has no documents.', documentList)],
    errors,
  },
  'get /v1/deployments/{id}/configuration': {
    id: 'getDeploymentConfiguration',
    tag: 'Applications',
    summary: 'Returns conversation starters',
    description:
      'For a quick app, its own starters come first, then the prompts of its MCP servers (`prompts`). If the deployment has a configuration endpoint, Parley relays the response of that endpoint. For other deployments, the response is `{}`.',
    parameters: [inDeploymentPath(exampleNames.application)],
    responses: [reply(200, 'The starters, and the schema of the choice.', starters), unchangedAnswer],
    errors,
  },
  'get /v1/user/info': {
    id: 'getUserInfo',
    tag: 'Limits',
    summary: 'Returns the user of the key or token',
    responses: [reply(200, 'The user, the project, and the roles.', userInfo)],
  },
  'get /v1/prompt-library': {
    id: 'getPromptLibrary',
    summary: 'Returns the prompts that the configuration offers to the caller',
    description: 'The page offers them next to the prompts that the user saves. `userRoles` of a prompt limits who sees it.',
    responses: [reply(200, 'The prompts, in the order of the configuration.', promptLibrary)],
    errors: ['access_denied'],
  },
});
