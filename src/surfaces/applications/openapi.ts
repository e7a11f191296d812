import { ApplicationAccess } from '#contract/application-access.ts';
import { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { quickAppSuffix } from '#contract/quick-app/form.ts';
import {
  buildArray,
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
  orNull,
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

const pathParams = [inBucket, inPath('path', 'Path in the bucket. It may contain slashes.', exampleNames.ownApplication)];
const path = '/v1/applications/{bucket}/{path}';
const versions = '/v1/versions/applications/{bucket}/{path}';
const access = '/v1/access/applications/{bucket}/{path}';
const version: Parameter = inQuery('version', 'Number of a version.', { schema: versionNumber, example: 1 });

const conditions = listConditions('application');

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

const person = nameObject('Person', {
  id: { ...text, description: 'ID of the user, as in `GET /v1/user/info`.' },
  name: orNull('string', 'Name from the identity provider.'),
  address: orNull('string', 'E-mail address that the identity provider has verified.'),
});

const sharing = nameObject('ApplicationSharing', {
  etag: { ...text, description: 'ETag of the application, without quotes.' },
  roles: buildArray(text),
  users: buildArray(person),
});

const peopleMatches = nameSchema('PeopleMatches', {
  ...buildList(person),
  required: ['object', 'data', 'roles'],
  properties: {
    object: { const: 'list' },
    data: buildArray(person),
    roles: { ...buildArray(text), description: 'Roles that the text finds.' },
  },
});

const shared = { tag: 'Applications', errors: [...keyErrors, 'access_denied'] } as const;

/** Operations for applications that users save, their versions, and the users and roles that may use them. */
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
  [`get ${access}`]: {
    id: 'getApplicationAccess',
    summary: 'Shows who may use an application',
    description: 'For the owner.',
    parameters: pathParams,
    responses: [reply(200, 'The roles and users, with the `ETag` of the application.', sharing)],
    errors: ['deployment_not_found'],
  },
  [`put ${access}`]: {
    id: 'shareApplication',
    summary: 'Replaces who may use an application',
    description:
      'For the owner. The settings of the application do not change. The change applies from the next call on every node. A user who was not listed before must have signed in, be provisioned, or have a configured key. `GET /v1/people` finds users.',
    parameters: [...pathParams, ...conditions],
    body: json(
      { name: 'ApplicationAccess', schema: ApplicationAccess },
      { role: { summary: 'Everyone with the role `default`', value: { roles: ['default'], users: [] } } },
    ),
    responses: [reply(200, 'The roles and users that may now use the application.', sharing)],
    errors: ['deployment_not_found', ...bodyErrors, 'precondition_failed'],
  },
  'get /v1/people': {
    id: 'findPeople',
    summary: 'Finds users and roles to share an application with',
    description:
      'An exact ID, user name, or verified e-mail address finds any user. The exact name or project of a key finds its user. An exact role name finds any role. The start of a name finds roles of the caller. From 2 characters on, it also finds users who share with the caller a role other than `default`, or a project that `projectClaim` names. The response has at most 10 users and 10 roles.',
    parameters: [inQuery('search', 'An ID, an address, or the start of a name. Without it, only the roles of the caller.')],
    responses: [reply(200, 'The users and roles.', peopleMatches)],
    errors: ['invalid_request'],
  },
});
