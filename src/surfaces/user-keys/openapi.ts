import { KeyRotation, NewKey, userKeyFields } from '#contract/key-requests.ts';
import { buildList, inPath, json, listOperations, type NamedSchema, nameSchema, reply } from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';

const { properties, required } = userKeyFields;
const userKey: NamedSchema = { name: 'UserKey', schema: { type: 'object', required, properties } };
const createdKey = nameSchema('MadeUserKey', {
  type: 'object',
  required: [...required, 'key'],
  properties: {
    ...properties,
    key: { type: 'string', description: 'The key. Parley returns it only once and does not store it.' },
  },
});

const keyParameter = inPath('key', 'ID of the key.', exampleNames.key);

const shared = { tag: 'Keys', errors: [...keyErrors, 'access_denied'] } as const;

/** Operations for keys that users create for themselves. */
export const keyOperations = listOperations(shared, {
  'post /v1/user/keys': {
    id: 'makeUserKey',
    summary: 'Creates a key for the user',
    description:
      'For users who sign in with an identity provider, if their roles have `selfService`. The key never has more rights than the user.',
    body: json(
      { name: 'NewUserKey', schema: NewKey },
      {
        month: { summary: 'For a month', value: { name: 'Notebook', days: 30 } },
        narrow: { summary: 'For one deployment', value: { deployments: [exampleNames.chat], allowedIps: ['192.0.2.0/24'] } },
      },
    ),
    responses: [reply(201, 'The key is created. All nodes accept it within 1 second.', createdKey)],
    errors: [...bodyErrors, 'too_many_keys'],
  },
  'get /v1/user/keys': {
    id: 'listUserKeys',
    summary: 'Lists the keys that the user created, latest first',
    responses: [reply(200, 'The keys.', buildList(userKey))],
  },
  'delete /v1/user/keys/{key}': {
    id: 'deleteUserKey',
    summary: 'Deletes a key and ends its calls in progress',
    parameters: [keyParameter],
    responses: [reply(204, 'The key is deleted. All nodes reject it within 1 second.')],
    errors: ['key_not_found'],
  },
  'post /v1/user/keys/{key}/rotate': {
    id: 'rotateUserKey',
    summary: 'Replaces a key with a new key that has the same ID',
    parameters: [keyParameter],
    body: json(
      { name: 'KeyRotation', schema: KeyRotation },
      { hour: { summary: 'Accept the previous key for an hour', value: { overlapSeconds: 3600 } } },
    ),
    responses: [reply(200, 'The new key.', createdKey)],
    errors: [...bodyErrors, 'key_not_found'],
  },
});
