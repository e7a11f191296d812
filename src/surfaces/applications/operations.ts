import { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { ErrorCode } from '#contract/errors/errors.ts';
import { quickAppSuffix } from '#contract/quick-app/schema-id.ts';
import {
  type ApiOperation,
  buildList,
  buildObject,
  inHeader,
  inPath,
  inQuery,
  json,
  type NamedSchema,
  type Parameter,
  type Schema,
} from '../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames } from '../http/operations/operation-examples.ts';

const text: Schema = { type: 'string' };
const milliseconds: Schema = { type: 'integer', description: 'Milliseconds since the epoch.' };
const tag = 'Applications';

const application: NamedSchema = { name: 'Application', schema: ApplicationEntry };

const savedFields = {
  ...ApplicationEntry.properties,
  id: { ...text, description: '`applications/{bucket}/{path}`; the deployment that calls name.' },
  etag: { ...text, description: 'Another after each change; without quotes.' },
  createdAt: milliseconds,
  updatedAt: milliseconds,
};
const savedSchema = { type: 'object', required: ['id', 'etag', 'createdAt', 'updatedAt'], properties: savedFields };

const warning: NamedSchema = {
  name: 'SaveWarning',
  schema: buildObject({ path: { ...text, description: 'The field, as `param` of an error.' }, message: text }),
};

const warnings: Schema = {
  type: 'array',
  description:
    'Only in the answer to a save, and only if there are any: names of deployments and tools that do not exist, and documents without text that can be searched.',
  items: warning,
};

const saved: NamedSchema = { name: 'SavedApplication', schema: savedSchema };
const savedNow: NamedSchema = {
  name: 'SavedApplicationWithWarnings',
  schema: { ...savedSchema, properties: { ...savedFields, warnings } },
};
const list: NamedSchema = { name: 'ApplicationList', schema: buildList(saved) };

const versionNumber = { type: 'integer', minimum: 1, description: 'Counted from 1; the highest is the one in force.' };

const versionList: NamedSchema = {
  name: 'ApplicationVersionList',
  schema: buildList(buildObject({ version: versionNumber, etag: text, savedAt: milliseconds })),
};

const savedVersion: NamedSchema = {
  name: 'ApplicationVersion',
  schema: {
    ...savedSchema,
    required: [...savedSchema.required, 'version'],
    properties: { ...savedFields, version: versionNumber },
  },
};

const bucket = inPath('bucket', 'The bucket of the owner; `GET /v1/bucket` names that of the caller.', exampleNames.bucket);
const pathParams = [bucket, inPath('path', 'Its path below the bucket; it may hold slashes.', exampleNames.ownApplication)];
const path = '/v1/applications/{bucket}/{path}';
const versions = '/v1/versions/applications/{bucket}/{path}';
const version: Parameter = inQuery('version', 'Number of a version.', { schema: versionNumber, example: 1 });

const conditions = [
  inHeader('If-Match', 'ETags, one of which must be that of the application; `*`: there must be one.', { example: '*' }),
  inHeader('If-None-Match', 'ETags, none of which may be that of the application; `*`: there must be none.', {
    example: '"2f8b1c"',
  }),
];
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'deployment_not_found'];

const guide = {
  displayName: 'Guide',
  applicationTypeSchemaId: `https://parley.example${quickAppSuffix}`,
  applicationProperties: {
    model: exampleNames.chat,
    temperature: 0,
    instructions: 'You help visitors of the library.',
    starters: ['When is it open?'],
  },
};

/** Operations for applications that users save, and for their versions. */
export const applicationOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/applications/{bucket}',
    id: 'listOwnApplications',
    tag,
    summary: 'Lists the applications of the caller',
    description: 'The path may end with a slash.',
    parameters: [bucket],
    answers: [{ status: 200, description: 'The list, by id.', content: json(list) }],
    errors: [...keyErrors, 'access_denied'],
  },
  {
    method: 'get',
    path,
    id: 'getApplication',
    tag,
    summary: 'Shows an application',
    description:
      'The owner is shown all of it, but `***` in place of secrets. The roles that it names are not shown where it runs and what it is told.',
    parameters: [...pathParams, ...conditions],
    answers: [
      { status: 200, description: 'The application, with its `ETag`.', content: json(saved) },
      { status: 304, description: 'The application is the one that `If-None-Match` names.' },
    ],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'put',
    path,
    id: 'saveApplication',
    tag,
    summary: 'Saves an application in the place of what is there',
    description:
      'The body is an entry of `applications`; what `GET` gave may be sent back. A secret that is `***` stays as it is stored.',
    parameters: [...pathParams, ...conditions],
    body: json(application, { quickApp: { summary: 'A quick app', value: guide } }),
    answers: [
      { status: 200, description: 'The application is changed.', content: json(savedNow) },
      { status: 201, description: 'The application is made.', content: json(savedNow) },
    ],
    errors: [...errors, ...bodyErrors, 'precondition_failed'],
  },
  {
    method: 'delete',
    path,
    id: 'deleteApplication',
    tag,
    summary: 'Deletes an application',
    parameters: [...pathParams, ...conditions],
    answers: [{ status: 204, description: 'The application is gone.' }],
    errors: [...errors, 'precondition_failed'],
  },
  {
    method: 'get',
    path: versions,
    id: 'listApplicationVersions',
    tag,
    summary: 'Lists the versions of an application of the caller, or shows one',
    description: 'Each change keeps what was there before: the last 50, of 4 MiB in all. Secrets are `***`.',
    parameters: [...pathParams, version],
    answers: [
      {
        status: 200,
        description: 'The versions, the newest first; with `version` that one.',
        content: json({ oneOf: [versionList, savedVersion] }),
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
      'As `PUT` would: it is refused if it could not be saved today, and what it takes the place of becomes a version too.',
    parameters: [...pathParams, { ...version, required: true }, ...conditions],
    answers: [{ status: 200, description: 'The version is in force again.', content: json(saved) }],
    errors: [...errors, 'invalid_request', 'precondition_failed'],
  },
];
