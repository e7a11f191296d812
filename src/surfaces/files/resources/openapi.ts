import { capitalize } from '#base/text/sentence.ts';
import type { ErrorCode } from '#contract/errors/errors.ts';
import {
  ConversationRecord,
  PermissionListRequest,
  PermissionsRequest,
  PromptRecord,
  PublicationListRequest,
  RelocationRequest,
  ShareListRequest,
} from '#contract/resource-requests.ts';
import { type ResourceKind, resourceKinds } from '#domain/files/resource-location.ts';
import {
  anyObject,
  buildArray,
  buildObject,
  inPath,
  inQuery,
  json,
  listConditions,
  listOperations,
  type OperationTable,
  pageToken,
  reply,
  type Schema,
  text,
} from '../../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../../http/openapi/operation-errors.ts';
import { exampleNames, inBucket } from '../../http/openapi/operation-examples.ts';
import { folderSchemas, itemSchemas } from './metadata-schemas.ts';

interface RecordKind {
  readonly kind: 'prompts' | 'conversations';
  /** Part of the operation ids. */
  readonly name: 'Prompt' | 'Conversation';
  readonly schema: Schema;
  readonly example: object;
}

const errors: readonly ErrorCode[] = ['access_denied', 'invalid_request', 'file_not_found'];

/** Names of items in examples, by kind. */
const itemNames: Readonly<Record<ResourceKind, string>> = {
  files: exampleNames.file,
  prompts: exampleNames.prompt,
  conversations: exampleNames.conversation,
  applications: exampleNames.ownApplication,
};

const example = { folderId: `prompts/${exampleNames.bucket}`, name: 'brief' };
const recordKinds: readonly RecordKind[] = [
  {
    kind: 'prompts',
    name: 'Prompt',
    schema: PromptRecord,
    example: { id: `prompts/${exampleNames.bucket}/${exampleNames.prompt}`, ...example, content: 'Be brief.' },
  },
  {
    kind: 'conversations',
    name: 'Conversation',
    schema: ConversationRecord,
    example: {
      id: `conversations/${exampleNames.bucket}/${exampleNames.conversation}`,
      folderId: `conversations/${exampleNames.bucket}`,
      name: 'Opening hours',
      messages: [{ role: 'user', content: 'When is it open?' }],
    },
  },
];

const page = [
  inQuery('limit', 'Maximum number of items of a page. A page may have fewer. With 0, the response has only the folder itself.', {
    schema: { type: 'integer', minimum: 0, maximum: 1000, default: 100 },
    example: 100,
  }),
  pageToken,
  inQuery('recursive', 'Whether to list the items of all subfolders instead of the subfolders.', {
    schema: { type: 'boolean', default: false },
    example: true,
  }),
  inQuery('permissions', 'Whether to include the permissions of the caller.', {
    schema: { type: 'boolean', default: false },
    example: true,
  }),
];

function toRecordOperations({ kind, name, schema, example }: RecordKind): OperationTable {
  const word = name.toLowerCase();
  const record = { name, schema };
  const path = `/v1/${kind}/{bucket}/{path}`;
  const inItem = inPath('path', 'Path in the bucket. It may contain slashes.', itemNames[kind]);
  const parameters = [inBucket, inItem, ...listConditions('item')];
  return {
    [`get ${path}`]: {
      id: `get${name}`,
      summary: `Returns a ${word} exactly as received`,
      parameters,
      responses: [reply(200, `The ${word}, with its \`ETag\`.`, record), reply(304, 'The ETag matches `If-None-Match`.')],
      errors: [...errors, 'precondition_failed'],
    },
    [`put ${path}`]: {
      id: `put${name}`,
      summary: `Creates or replaces a ${word}`,
      parameters,
      body: json(record, { [word]: { summary: `A ${word}`, value: example } }),
      responses: [reply(200, `The metadata of the ${word}.`, itemSchemas[kind])],
      errors: [...bodyErrors, 'access_denied', 'file_not_found', 'precondition_failed'],
    },
    [`delete ${path}`]: {
      id: `delete${name}`,
      summary: `Deletes a ${word}`,
      parameters,
      responses: [reply(204, `The ${word} is deleted.`)],
      errors: [...errors, 'precondition_failed'],
    },
  };
}

function toMetadataOperations(kind: ResourceKind): OperationTable {
  const singular = kind.slice(0, -1);
  const absent = kind === 'applications' ? ('deployment_not_found' as const) : ('file_not_found' as const);
  const listErrors: readonly ErrorCode[] = ['access_denied', 'invalid_request', absent];
  const name = capitalize(singular);
  return {
    [`get /v1/metadata/${kind}/{bucket}`]: {
      id: `list${name}s`,
      summary: `Lists the ${kind} at the top of a bucket`,
      parameters: [inBucket, ...page],
      responses: [reply(200, 'A page.', folderSchemas[kind])],
      errors: listErrors,
    },
    [`get /v1/metadata/${kind}/{bucket}/{path}`]: {
      id: `get${name}Metadata`,
      summary: `Returns the metadata of one of the ${kind}, or lists a folder`,
      description: `The path of a folder ends with a slash. The slash is optional if no item has that path. ${kind === 'files' ? 'Only `nextToken: null` marks the end.' : 'The last page has no `nextToken`.'}`,
      parameters: [inBucket, inPath('path', 'Path in the bucket. It may contain slashes.', itemNames[kind]), ...page],
      responses: [reply(200, 'The metadata, or a page of the folder.', { oneOf: [itemSchemas[kind], folderSchemas[kind]] })],
      errors: listErrors,
    },
  };
}

const file = `files/${exampleNames.bucket}/${exampleNames.file}`;
const relocation = { sourceUrl: file, destinationUrl: `files/${exampleNames.bucket}/notes/open.txt`, overwrite: true };
const relocationRequest = { name: 'RelocationRequest', schema: RelocationRequest };
const appData = `files/${exampleNames.bucket}/appdata/${exampleNames.application}/`;
const permissions = { resourcePermissions: [{ url: appData, permissions: ['READ'] }], receiver: exampleNames.chat };
const permissionsRequest = { name: 'PermissionsRequest', schema: PermissionsRequest };

const granted: Schema = buildObject({
  resourcePermissions: buildArray(
    buildObject({
      url: text,
      permissions: buildArray({ enum: ['READ', 'WRITE'] }),
      receiver: { ...text, description: 'ID of the deployment.' },
    }),
  ),
});

function emptyListSchema(key: string): Schema {
  return buildObject({ [key]: buildArray(anyObject) });
}

/** Operations for prompts and conversations, for metadata, and for all kinds of stored items. */
export const resourceOperations = [
  ...[...recordKinds.map(toRecordOperations), ...resourceKinds.map(toMetadataOperations)].flatMap((table) =>
    listOperations({ tag: 'Files', errors: keyErrors }, table),
  ),
  ...listOperations(
    { tag: 'Files', errors: [...keyErrors, ...bodyErrors, 'access_denied'] },
    {
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
    },
  ),
];
