import { ApplicationAccess } from '#contract/application-access.ts';
import {
  buildArray,
  buildList,
  inQuery,
  json,
  listOperations,
  nameObject,
  nameSchema,
  orNull,
  reply,
  text,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { conditions, pathParams } from './openapi.ts';

const path = '/v1/access/applications/{bucket}/{path}';

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

/** Operations for sharing applications with users and roles. */
export const accessOperations = listOperations(shared, {
  [`get ${path}`]: {
    id: 'getApplicationAccess',
    summary: 'Shows who may use an application',
    description: 'For the owner.',
    parameters: pathParams,
    responses: [reply(200, 'The roles and users, with the `ETag` of the application.', sharing)],
    errors: ['deployment_not_found'],
  },
  [`put ${path}`]: {
    id: 'shareApplication',
    summary: 'Replaces who may use an application',
    description:
      'For the owner. The settings of the application stay as they are. The change applies from the next call on every node. A user who was not listed before must have signed in, be provisioned, or have a configured key. `GET /v1/people` finds users.',
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
      'Finds every user by the exact ID or verified e-mail address, the users of a key by its exact name, and every role by its exact name. By the start of a name, of at least 2 characters, it finds the roles of the caller, and users who share a role other than `default`, or a project that `projectClaim` names. At most 10 of each. It never lists all users.',
    parameters: [inQuery('search', 'An ID, an address, or the start of a name. Without it, only the roles of the caller.')],
    responses: [reply(200, 'The users and roles.', peopleMatches)],
    errors: ['invalid_request'],
  },
});
