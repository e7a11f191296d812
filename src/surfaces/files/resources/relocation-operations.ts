import type { ErrorCode } from '#contract/errors/errors.ts';
import {
  PermissionListRequest,
  PermissionsRequest,
  PublicationListRequest,
  RelocationRequest,
  ShareListRequest,
} from '#contract/resource-requests.ts';
import { type ApiOperation, buildArray, buildObject, json, type Schema } from '../../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../../http/operations/operation-errors.ts';
import { exampleNames } from '../../http/operations/operation-examples.ts';

const tag = 'Files';
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
      receiver: { type: 'string', description: 'Id of the deployment.' },
    }),
  ),
});

function listOfNothing(key: string): Schema {
  return { type: 'object', required: [key], properties: { [key]: { type: 'array', items: { type: 'object' } } } };
}

/** Operations that apply to all kinds of stored items. */
export const relocationOperations: readonly ApiOperation[] = [
  {
    method: 'post',
    path: '/v1/ops/resource/move',
    id: 'moveResource',
    tag,
    summary: 'Gives something stored another place',
    description:
      'Wholly or not at all. Files, prompts, conversations and applications, each within its kind; an application takes its versions with it.',
    body: json(relocationRequest, { move: { summary: 'A file', value: relocation } }),
    answers: [{ status: 200, description: 'It is there.' }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/ops/resource/copy',
    id: 'copyResource',
    tag,
    summary: 'Stores the same once more, at another place',
    body: json(relocationRequest, { copy: { summary: 'A file', value: relocation } }),
    answers: [{ status: 200, description: 'It is there.' }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/ops/resource/per-request-permissions/grant',
    id: 'grantPermissions',
    tag,
    summary: 'Lets a deployment read or write something while this call lasts',
    description:
      'Only with a per-request key, and only what its application may do itself. It holds when that deployment is called with the key.',
    body: json(permissionsRequest, { grant: { summary: 'Its data of the user', value: permissions } }),
    answers: [{ status: 200, description: 'It is granted.' }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/ops/resource/per-request-permissions/revoke',
    id: 'revokePermissions',
    tag,
    summary: 'Takes back what was granted',
    description: 'Only with a per-request key.',
    body: json(permissionsRequest, { revoke: { summary: 'The same', value: permissions } }),
    answers: [{ status: 200, description: 'It is not granted any more.' }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/ops/resource/per-request-permissions/list',
    id: 'listPermissions',
    tag,
    summary: 'Lists what was granted',
    description: 'Only with a per-request key.',
    body: json(
      { name: 'PermissionListRequest', schema: PermissionListRequest },
      { list: { summary: 'What one deployment got', value: { receiver: exampleNames.chat } } },
    ),
    answers: [{ status: 200, description: 'The grants.', content: json(granted) }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/ops/resource/share/list',
    id: 'listShared',
    tag,
    summary: 'Lists what is shared with others or by them, which is nothing',
    body: json(
      { name: 'ShareListRequest', schema: ShareListRequest },
      { list: { summary: 'With the caller', value: { resourceTypes: ['PROMPT'], with: 'me' } } },
    ),
    answers: [{ status: 200, description: 'An empty list.', content: json(listOfNothing('resources')) }],
    errors,
  },
  {
    method: 'post',
    path: '/v1/ops/publication/list',
    id: 'listPublications',
    tag,
    summary: 'Lists publications, of which there are none',
    body: json(
      { name: 'PublicationListRequest', schema: PublicationListRequest },
      { list: { summary: 'All', value: { url: 'publications/public/' } } },
    ),
    answers: [{ status: 200, description: 'An empty list.', content: json(listOfNothing('publications')) }],
    errors,
  },
];
