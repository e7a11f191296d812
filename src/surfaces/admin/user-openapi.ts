import { BlockedUserBody, userKeyFields } from '#contract/key-requests.ts';
import {
  buildArray,
  buildObject,
  buildPage,
  inPath,
  inQuery,
  json,
  listOperations,
  moment,
  type NamedSchema,
  nameObject,
  nameSchema,
  orNull,
  reply,
  text,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';
import { paging } from './openapi.ts';

const adminKeys = nameSchema(
  'AdminKeyPage',
  buildPage({
    type: 'object',
    required: ['id', 'source', 'project'],
    additionalProperties: true,
    properties: {
      ...userKeyFields.properties,
      source: {
        enum: ['file', 'runtime', 'user'],
        description:
          '`file`: a configuration file contains the key. `runtime`: an administrator created it. `user`: a user created it. Times of `file` and `runtime` keys are written as in the configuration.',
      },
      expiresAt: {
        type: ['integer', 'string'],
        description: 'Milliseconds since the epoch, or the text of the configuration.',
      },
      user: { ...text, description: 'ID of the user who created the key.' },
      project: text,
    },
  }),
);

const blockedUser = nameObject('BlockedUser', {
  user: { ...text, description: 'ID of the user.' },
  reason: orNull('string'),
  blockedAt: moment,
  blockedBy: { ...text, description: 'ID of the administrator.' },
});

const blockedUsers: NamedSchema = { name: 'BlockedUserPage', schema: buildPage(blockedUser) };

const namedUser = buildObject({ id: { ...text, description: 'ID of the user.' }, name: orNull('string') });

const sharedApplications = nameSchema(
  'SharedApplicationPage',
  buildPage(
    buildObject({
      id: text,
      displayName: orNull('string'),
      owner: namedUser,
      roles: buildArray(text),
      users: buildArray(namedUser),
      updatedAt: moment,
    }),
  ),
);

const inUser = inPath(
  'user',
  'ID of the user, as in usage: the user claim of a token, or `key:<project>`. Percent-encode it.',
  exampleNames.blockedUser,
);

const shared = { tag: 'Administration', errors: [...keyErrors, 'access_denied'] } as const;

/** Keys of users and blocked users, for administrators. */
export const adminUserOperations = listOperations(shared, {
  'get /v1/admin/keys': {
    id: 'listAdminKeys',
    summary: 'Lists the keys of the configuration, then those that users created, the latest first',
    description: 'For the roles `admin` and `auditor`. The list never contains the keys themselves.',
    parameters: [inQuery('user', 'Only the keys of a user.'), ...paging],
    responses: [reply(200, 'A page.', adminKeys)],
    errors: ['invalid_request'],
  },
  'delete /v1/admin/keys/{entry}': {
    id: 'revokeKey',
    summary: 'Revokes a key that a user or an administrator created',
    description: 'For the role `admin`. All nodes reject the key within 1 s. The calls that it started end within 5 s.',
    parameters: [inPath('entry', 'ID of the key.', exampleNames.key)],
    responses: [reply(204, 'The key is revoked.')],
    errors: ['invalid_request', 'key_not_found', 'configured_in_file', 'last_administrator'],
  },
  'get /v1/admin/blocked-users': {
    id: 'listBlockedUsers',
    summary: 'Lists the blocked users, the latest block first',
    description: 'For the roles `admin` and `auditor`.',
    parameters: paging,
    responses: [reply(200, 'A page.', blockedUsers)],
    errors: ['invalid_request'],
  },
  'put /v1/admin/blocked-users/{user}': {
    id: 'blockUser',
    summary: 'Blocks a user',
    description:
      'For the role `admin`. All nodes reject every credential of the user with 403 `user_blocked` within 1 s. The calls of the user end within 5 s.',
    parameters: [inUser],
    body: json(
      { name: 'BlockedUserBody', schema: BlockedUserBody },
      { reason: { summary: 'With a reason', value: { reason: 'Left the company' } } },
    ),
    isBodyOptional: true,
    responses: [
      reply(200, 'The user was blocked before. The block is replaced.', blockedUser),
      reply(201, 'The user is blocked.', blockedUser),
    ],
    errors: [...bodyErrors],
  },
  'delete /v1/admin/blocked-users/{user}': {
    id: 'unblockUser',
    summary: 'Unblocks a user',
    description: 'For the role `admin`.',
    parameters: [inUser],
    responses: [reply(204, 'The user is unblocked on all nodes within 1 s.')],
    errors: ['invalid_request', 'user_not_blocked'],
  },
  'get /v1/admin/shared-applications': {
    id: 'listSharedApplications',
    summary: 'Lists the saved applications that other users may use, by ID',
    description: 'For the roles `admin` and `auditor`. The list has no settings of the applications.',
    parameters: [inQuery('user', 'Only the applications that are shared with a user by ID.'), ...paging],
    responses: [reply(200, 'A page.', sharedApplications)],
    errors: ['invalid_request'],
  },
});
