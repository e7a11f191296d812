import { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { ErrorCode } from '#contract/errors.ts';
import { ImportRequest } from '#contract/import-request.ts';
import { quickAppSuffix } from '#contract/quick-app/schema-id.ts';
import { RestToolset } from '#contract/quick-app/web-toolset.ts';
import {
  type ApiOperation,
  anyObject,
  inHeader,
  inPath,
  inQuery,
  json,
  keyErrors,
  listOf,
  type NamedSchema,
  type Parameter,
} from '../http/operation.ts';

const text = { type: 'string' };
const milliseconds = { type: 'integer', description: 'Milliseconds since the epoch.' };
const tag = 'Applications';

const entryFields = { ...ApplicationEntry.properties, features: anyObject };

const application: NamedSchema = {
  name: 'Application',
  schema: { type: 'object', properties: entryFields, additionalProperties: false },
};

const savedFields = {
  ...entryFields,
  id: { ...text, description: '`applications/{bucket}/{path}`; the deployment that calls name.' },
  etag: { ...text, description: 'Another after each change; without quotes.' },
  createdAt: milliseconds,
  updatedAt: milliseconds,
};

const saved: NamedSchema = {
  name: 'SavedApplication',
  schema: {
    type: 'object',
    required: ['id', 'etag', 'createdAt', 'updatedAt'],
    properties: savedFields,
  },
};

const list: NamedSchema = {
  name: 'ApplicationList',
  schema: listOf({ $ref: '#/components/schemas/SavedApplication' }),
};

const versionNumber = { type: 'integer', minimum: 1, description: 'Counted from 1; the highest is the one in force.' };

const versionList = listOf({
  type: 'object',
  required: ['version', 'etag', 'savedAt'],
  properties: { version: versionNumber, etag: text, savedAt: milliseconds },
});

const versionOrAll: NamedSchema = {
  name: 'ApplicationVersions',
  schema: {
    oneOf: [versionList, { ...saved.schema, properties: { ...savedFields, version: versionNumber } }],
  },
};

const starters: NamedSchema = {
  name: 'DeploymentConfiguration',
  schema: {
    type: 'object',
    required: ['starters', 'schema'],
    properties: {
      starters: { type: 'array', items: text },
      schema: { type: 'object', description: 'JSON Schema of the choice: its property `starter` has one of them.' },
    },
  },
};

const imported: NamedSchema = {
  name: 'ImportedToolsets',
  schema: {
    type: 'object',
    required: ['toolsets', 'notes'],
    properties: {
      toolsets: {
        type: 'array',
        items: RestToolset,
        description: 'For `web_api_toolset`; a secret is the name of a variable, to be replaced by it.',
      },
      notes: { type: 'array', items: text, description: 'What was left out, and why.' },
    },
  },
};

const bucket = inPath('bucket', 'The bucket of the owner; `GET /v1/bucket` names it.');
const place = [bucket, inPath('path', 'Its path below the bucket; it may hold slashes.')];
const path = '/v1/applications/{bucket}/{path}';
const versions = '/v1/versions/applications/{bucket}/{path}';
const version: Parameter = { ...inQuery('version', 'Number of a version.'), schema: versionNumber };

const conditions = [
  inHeader('If-Match', 'ETags, one of which must be that of the application; `*`: there must be one.'),
  inHeader('If-None-Match', 'ETags, none of which may be that of the application; `*`: there must be none.'),
];
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'deployment_not_found', 'overloaded'];
const bodyErrors: readonly ErrorCode[] = ['invalid_request', 'invalid_json', 'payload_too_large', 'unsupported_media_type'];
const schemaAnswer = {
  status: 200,
  description: 'The schema, in the draft 2020-12.',
  content: [{ type: 'application/schema+json', schema: anyObject }],
};

/** Applications made by users, and what is needed to make one. */
export const applicationOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/applications/{bucket}/',
    id: 'listOwnApplications',
    tag,
    summary: 'Lists the applications of the caller',
    parameters: [bucket],
    answers: [{ status: 200, description: 'The list, by id.', content: json(list) }],
    errors: [...keyErrors, 'access_denied', 'overloaded'],
  },
  {
    method: 'get',
    path,
    id: 'getApplication',
    tag,
    summary: 'Shows an application',
    description:
      'Whole to its owner, but for secrets, which are `***`; to the roles it names without where it runs and what it is told.',
    parameters: [...place, ...conditions],
    answers: [
      { status: 200, description: 'It, with its `ETag`.', content: json(saved) },
      { status: 304, description: 'It is the one that `If-None-Match` names.' },
    ],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'put',
    path,
    id: 'saveApplication',
    tag,
    summary: 'Saves an application in the place of what is there',
    description: 'An entry of `applications`; what `GET` gave may be sent back. A secret that is `***` stays as it is stored.',
    parameters: [...place, ...conditions],
    body: json(application),
    answers: [
      { status: 200, description: 'It is changed.', content: json(saved) },
      { status: 201, description: 'It is made.', content: json(saved) },
    ],
    errors: [...errors, ...bodyErrors, 'precondition_failed'],
  },
  {
    method: 'delete',
    path,
    id: 'deleteApplication',
    tag,
    summary: 'Deletes an application',
    parameters: [...place, ...conditions],
    answers: [{ status: 204, description: 'It is gone.' }],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'get',
    path: versions,
    id: 'listApplicationVersions',
    tag,
    summary: 'Lists the versions of an application of the caller, or shows one',
    description: 'Each change keeps what was there before: the last 50, of 4 MiB in all. Secrets are `***`.',
    parameters: [...place, version],
    answers: [
      {
        status: 200,
        description: 'The versions, the newest first; with `version` that one.',
        content: json(versionOrAll),
      },
    ],
    errors: [...errors, 'invalid_request'],
  },
  {
    method: 'post',
    path: versions,
    id: 'restoreApplicationVersion',
    tag,
    summary: 'Saves a former version again, with the secrets it had',
    description:
      'As `PUT` would: it is refused where it could not be saved today, and what it takes the place of is a version too.',
    parameters: [...place, { ...version, required: true }, ...conditions],
    answers: [{ status: 200, description: 'It is in force.', content: json(saved) }],
    errors: [...errors, 'invalid_request', 'precondition_failed'],
  },
  {
    method: 'get',
    path: '/v1/application_type_schemas/schema',
    id: 'getApplicationTypeSchema',
    tag,
    summary: 'The JSON Schema of the settings of an application type',
    parameters: [{ ...inQuery('id', `Id of the type; any that ends in \`${quickAppSuffix}\`.`), required: true }],
    answers: [schemaAnswer],
    errors: [...keyErrors, 'invalid_request', 'route_not_found'],
  },
  {
    method: 'get',
    path: quickAppSuffix,
    id: 'getQuickAppSchema',
    tag,
    summary: 'The JSON Schema of the settings of a quick app, at its own address',
    answers: [schemaAnswer],
    isOpen: true,
  },
  {
    method: 'get',
    path: '/v1/deployments/{id}/configuration',
    id: 'getDeploymentConfiguration',
    tag,
    summary: 'Prompts to begin with',
    description: 'Those of a quick app; other deployments have none.',
    parameters: [inPath('id', 'Id of the deployment; it may hold slashes.')],
    answers: [{ status: 200, description: 'The prompts, and the schema of the choice.', content: json(starters) }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/import-openapi',
    id: 'importOpenApi',
    tag,
    summary: 'Turns an OpenAPI document into tools of a quick app',
    description:
      'Of OpenAPI 2.0, 3.0 or 3.1. Nothing is saved: the toolsets are for the settings of a quick app, once they were looked over.',
    body: json({ name: 'ImportRequest', schema: ImportRequest }),
    answers: [{ status: 200, description: 'The toolsets.', content: json(imported) }],
    errors: [...keyErrors, ...bodyErrors, 'access_denied'],
  },
];
