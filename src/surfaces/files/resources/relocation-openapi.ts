import type { ErrorCode } from '#contract/errors/errors.ts';
import {
  PermissionListRequest,
  PermissionsRequest,
  PublicationListRequest,
  RelocationRequest,
  ShareListRequest,
} from '#contract/resource-requests.ts';
import { buildArray, buildObject, json, listOperations, reply, type Schema } from '../../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../../http/openapi/operation-errors.ts';
import { exampleNames } from '../../http/openapi/operation-examples.ts';

const errors: readonly ErrorCode[] = [...keyErrors, ...bodyErrors, 'access_denied'];
const file = `files/${exampleNames.bucket}/${exampleNames.file}`;
const relocation = { sourceUrl: file, destinationUrl: `files/${exampleNames.bucket}/notes/open.txt`, overwrite: true };
const relocationRequest = { name: 'RelocationRequest', schema: RelocationRequest };
const appData = `files/${exampleNames.bucket}/appdata/${exampleNames.application}/`;
const permissions = { resourcePermissions: [{ url: appData, permissions: ['READ'] }], receiver: exampleNames.chat };
const permissionsRequest = { name: 'PermissionsRequest', schema: PermissionsRequest };

const granted: Schema = buildObject({
  resourcePermissions: buildArray(
    buildObject({
      url: { type: 'string' },
      permissions: { type: 'array', items: { enum: ['READ', 'WRITE'] } },
      receiver: { type: 'string', description: 'ID of the deployment.' },
    }),
  ),
});

function emptyListSchema(key: string): Schema {
  return { type: 'object', required: [key], properties: { [key]: { type: 'array', items: { type: 'object' } } } };
}

const shared = { tag: 'Files', errors } as const;

/** Operations that apply to all kinds of stored items. */
export const relocationOperations = listOperations(shared, {
  'post /v1/ops/resource/move': {
    id: 'moveResource',
    summary: 'Moves a stored item',
    description:
      'The move is atomic. Files, prompts, conversations, and applications can be moved within their kind. The versions of an application move with it.',
    body: json(relocationRequest, { move: { summary: 'A file', value: relocation } }),
    responses: [reply(200, 'The item is moved.')],
  },
  'post /v1/ops/resource/copy': {
    id: 'copyResource',
    summary: 'Copies a stored item',
    body: json(relocationRequest, { copy: { summary: 'A file', value: relocation } }),
    responses: [reply(200, 'The item is copied.')],
  },
  'post /v1/ops/resource/per-request-permissions/grant': {
    id: 'grantPermissions',
    summary: 'Grants a deployment permissions on stored items for the duration of this call',
    description:
      'Requires a per-request key. The application can grant only permissions that it has itself. The grant applies when the deployment is called with the key.',
    body: json(permissionsRequest, { grant: { summary: 'Its data of the user', value: permissions } }),
    responses: [reply(200, 'The permissions are granted.')],
  },
  'post /v1/ops/resource/per-request-permissions/revoke': {
    id: 'revokePermissions',
    summary: 'Revokes granted permissions',
    description: 'Requires a per-request key.',
    body: json(permissionsRequest, { revoke: { summary: 'The same', value: permissions } }),
    responses: [reply(200, 'The permissions are revoked.')],
  },
  'post /v1/ops/resource/per-request-permissions/list': {
    id: 'listPermissions',
    summary: 'Lists granted permissions',
    description: 'Requires a per-request key.',
    body: json(
      { name: 'PermissionListRequest', schema: PermissionListRequest },
      { list: { summary: 'Grants of one deployment', value: { receiver: exampleNames.chat } } },
    ),
    responses: [reply(200, 'The grants.', granted)],
  },
  'post /v1/ops/resource/share/list': {
    id: 'listShared',
    summary: 'Lists shared items (always empty)',
    body: json(
      { name: 'ShareListRequest', schema: ShareListRequest },
      { list: { summary: 'With the caller', value: { resourceTypes: ['PROMPT'], with: 'me' } } },
    ),
    responses: [reply(200, 'An empty list.', emptyListSchema('resources'))],
  },
  'post /v1/ops/publication/list': {
    id: 'listPublications',
    summary: 'Lists publications (always empty)',
    body: json(
      { name: 'PublicationListRequest', schema: PublicationListRequest },
      { list: { summary: 'All', value: { url: 'publications/public/' } } },
    ),
    responses: [reply(200, 'An empty list.', emptyListSchema('publications'))],
  },
});
