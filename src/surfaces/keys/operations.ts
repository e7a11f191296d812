import type { ErrorCode } from '#contract/errors/errors.ts';
import { KeyRotation, NewKey, userKeyFields } from '#contract/user-keys.ts';
import { type ApiOperation, buildList, inPath, json, type NamedSchema } from '../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames } from '../http/operations/operation-examples.ts';

const { properties, required } = userKeyFields;
const userKey: NamedSchema = { name: 'UserKey', schema: { type: 'object', required, properties } };
const createdKey: NamedSchema = {
  name: 'MadeUserKey',
  schema: {
    type: 'object',
    required: [...required, 'key'],
    properties: { ...properties, key: { type: 'string', description: 'The key itself. Told this once, and kept nowhere.' } },
  },
};

const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied'];
const inKey = inPath('key', 'Id of the key.', exampleNames.key);

type Described = Omit<ApiOperation, 'tag'>;

const described: readonly Described[] = [
  {
    method: 'post',
    path: '/v1/user/keys',
    id: 'makeUserKey',
    summary: 'Makes a key that stands for the user',
    description:
      'For users who sign in with an identity provider, if their roles have `selfService`. It may do what the user may, and never more.',
    body: json(
      { name: 'NewUserKey', schema: NewKey },
      {
        month: { summary: 'For a month', value: { name: 'Notebook', days: 30 } },
        narrow: { summary: 'For one deployment', value: { deployments: [exampleNames.chat], allowedIps: ['192.0.2.0/24'] } },
      },
    ),
    answers: [{ status: 201, description: 'It is made, and in force on all nodes within a second.', content: json(createdKey) }],
    errors: [...errors, ...bodyErrors, 'too_many_keys'],
  },
  {
    method: 'get',
    path: '/v1/user/keys',
    id: 'listUserKeys',
    summary: 'Lists the keys that the user made, the latest first',
    answers: [{ status: 200, description: 'All of them.', content: json(buildList(userKey)) }],
    errors,
  },
  {
    method: 'delete',
    path: '/v1/user/keys/{key}',
    id: 'deleteUserKey',
    summary: 'Deletes a key: what goes on with it is ended',
    parameters: [inKey],
    answers: [{ status: 204, description: 'It is deleted, and refused on all nodes within a second.' }],
    errors: [...errors, 'key_not_found'],
  },
  {
    method: 'post',
    path: '/v1/user/keys/{key}/rotate',
    id: 'rotateUserKey',
    summary: 'Puts another key in the place of one, under the same id',
    parameters: [inKey],
    body: json(
      { name: 'KeyRotation', schema: KeyRotation },
      { hour: { summary: 'The key before is taken for an hour', value: { overlapSeconds: 3600 } } },
    ),
    answers: [{ status: 200, description: 'The new key.', content: json(createdKey) }],
    errors: [...errors, ...bodyErrors, 'key_not_found'],
  },
];

/** Operations for keys that users create for themselves. */
export const keyOperations: readonly ApiOperation[] = described.map((operation) => ({ ...operation, tag: 'Keys' }));
