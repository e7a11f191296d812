import { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { quickAppSuffix } from '#contract/quick-app/form.ts';
import {
  buildList,
  buildObject,
  inPath,
  inQuery,
  json,
  listConditions,
  listOperations,
  moment,
  type NamedSchema,
  nameObject,
  nameSchema,
  type Parameter,
  reply,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inBucket } from '../http/openapi/operation-examples.ts';

const application: NamedSchema = { name: 'Application', schema: ApplicationEntry };

const savedFields = {
  ...ApplicationEntry.properties,
  id: { ...text, description: '`applications/{bucket}/{path}`. Use it as the model of a call.' },
  etag: { ...text, description: 'ETag without quotes. It changes with each save.' },
  createdAt: moment,
  updatedAt: moment,
};
const savedSchema = { type: 'object', required: ['id', 'etag', 'createdAt', 'updatedAt'], properties: savedFields };

const warning = nameObject('SaveWarning', {
  path: { ...text, description: 'Path of the field, in the same format as `param` in errors.' },
  message: text,
});

const warnings: Schema = {
  type: 'array',
  description:
    'Present only in the response to a save, and only if there are warnings: names of deployments, tools, and roles that do not exist, and documents without searchable text.',
  items: warning,
};

const savedApplication: NamedSchema = { name: 'SavedApplication', schema: savedSchema };
const savedApplicationWithWarnings = nameSchema('SavedApplicationWithWarnings', {
  ...savedSchema,
  properties: { ...savedFields, warnings },
});
const list: NamedSchema = { name: 'ApplicationList', schema: buildList(savedApplication) };

const versionNumber = {
  type: 'integer',
  minimum: 1,
  description: 'Version number, starting at 1. The highest version is in effect.',
};

const versionList = nameSchema(
  'ApplicationVersionList',
  buildList(buildObject({ version: versionNumber, etag: text, savedAt: moment })),
);
const savedVersion = nameSchema('ApplicationVersion', {
  ...savedSchema,
  required: [...savedSchema.required, 'version'],
  properties: { ...savedFields, version: versionNumber },
});

export const pathParams = [inBucket, inPath('path', 'Path in the bucket. It may contain slashes.', exampleNames.ownApplication)];
const path = '/v1/applications/{bucket}/{path}';
const versions = '/v1/versions/applications/{bucket}/{path}';
const version: Parameter = inQuery('version', 'Number of a version.', { schema: versionNumber, example: 1 });

export const conditions = listConditions('application');

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

const shared = { tag: 'Applications', errors: [...keyErrors, 'access_denied'] } as const;

/** Operations for applications that users save, and for their versions. */
export const applicationOperations = listOperations(shared, {
  'get /v1/applications/{bucket}': {
    id: 'listOwnApplications',
    summary: 'Lists the applications of the caller',
    description: 'The path may end with a slash.',
    parameters: [inBucket],
    responses: [reply(200, 'The list, ordered by ID.', list)],
  },
  [`get ${path}`]: {
    id: 'getApplication',
    summary: 'Shows an application',
    description:
      'The owner receives all fields, with `***` in place of secrets. Other users with access do not receive `endpoint`, `applicationProperties`, `defaults`, `userRoles`, and `users`.',
    parameters: [...pathParams, ...conditions],
    responses: [
      reply(200, 'The application, with its `ETag`.', savedApplication),
      reply(304, 'The ETag of the application matches `If-None-Match`.'),
    ],
    errors: ['deployment_not_found', 'precondition_failed'],
  },
  [`put ${path}`]: {
    id: 'saveApplication',
    summary: 'Creates or replaces an application',
    description:
      'The body has the same format as an entry of `applications` in the configuration. You can send the response of `GET` back. A secret that is `***` keeps its stored value.',
    parameters: [...pathParams, ...conditions],
    body: json(application, { quickApp: { summary: 'A quick app', value: guide } }),
    responses: [
      reply(200, 'The application was replaced.', savedApplicationWithWarnings),
      reply(201, 'The application was created.', savedApplicationWithWarnings),
    ],
    errors: ['deployment_not_found', ...bodyErrors, 'precondition_failed'],
  },
  [`delete ${path}`]: {
    id: 'deleteApplication',
    summary: 'Deletes an application',
    parameters: [...pathParams, ...conditions],
    responses: [reply(204, 'The application was deleted.')],
    errors: ['deployment_not_found', 'precondition_failed'],
  },
  [`get ${versions}`]: {
    id: 'listApplicationVersions',
    summary: 'Lists the versions of an application, or returns one version',
    description:
      'Each change stores the previous version. Parley retains the last 50 versions, at most 4 MiB in total. Secrets are `***`.',
    parameters: [...pathParams, version],
    responses: [
      reply(200, 'The versions, newest first. With `version`, only that version.', { oneOf: [versionList, savedVersion] }),
    ],
    errors: ['deployment_not_found', 'invalid_request'],
  },
  [`post ${versions}`]: {
    id: 'restoreApplicationVersion',
    summary: 'Restores a version with its secrets',
    description:
      'Restoring follows the rules of `PUT`. `userRoles` and `users` stay as they are. Parley rejects a version that would not be valid today. The replaced application becomes a version too.',
    parameters: [...pathParams, { ...version, required: true }, ...conditions],
    responses: [reply(200, 'The version is in effect again.', savedApplication)],
    errors: ['deployment_not_found', 'invalid_request', 'precondition_failed'],
  },
});
