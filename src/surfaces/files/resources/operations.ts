import type { ErrorCode } from '#contract/errors/errors.ts';
import { ConversationRecord, PromptRecord } from '#contract/resource-requests.ts';
import { type ResourceKind, resourceKinds } from '#domain/files/resource-location.ts';
import { type ApiOperation, inHeader, inPath, inQuery, json, type Schema } from '../../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../../http/operations/operation-errors.ts';
import { exampleNames } from '../../http/operations/operation-examples.ts';
import { folderSchemas, itemSchemas } from './metadata-schemas.ts';

interface RecordKind {
  readonly kind: 'prompts' | 'conversations';
  /** Part of the operation ids. */
  readonly name: 'Prompt' | 'Conversation';
  readonly schema: Schema;
  readonly example: object;
}

const inBucket = inPath('bucket', 'The bucket of the owner; `GET /v1/bucket` names that of the caller.', exampleNames.bucket);
const ifMatch = inHeader('If-Match', 'ETags, one of which must be that of what is stored; `*`: there must be something.', {
  example: '*',
});
const ifNoneMatch = inHeader('If-None-Match', 'ETags, none of which may be that of what is stored; `*`: there must be nothing.', {
  example: '"2f8b1c"',
});
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'invalid_request', 'file_not_found'];

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
  inQuery('limit', 'Most items of a page; a page may have fewer. With 0 only the folder itself is told.', {
    schema: { type: 'integer', minimum: 0, maximum: 1000, default: 100 },
    example: 100,
  }),
  inQuery('token', '`nextToken` of the page before.'),
  inQuery('recursive', 'What lies in the folders below in place of these folders.', {
    schema: { type: 'boolean', default: false },
    example: true,
  }),
  inQuery('permissions', 'Whether to tell what the caller may do with each.', {
    schema: { type: 'boolean', default: false },
    example: true,
  }),
];

/** Operations for prompts and conversations, and for the metadata of all stored items. */
export const resourceOperations: readonly ApiOperation[] = [
  ...recordKinds.flatMap(toRecordOperations),
  ...resourceKinds.flatMap(toMetadataOperations),
];

function toRecordOperations({ kind, name, schema, example }: RecordKind): ApiOperation[] {
  const word = name.toLowerCase();
  const record = { name, schema };
  const at = {
    path: `/v1/${kind}/{bucket}/{path}`,
    tag: 'Files',
    parameters: [inBucket, inPath('path', 'Its path below the bucket; it may hold slashes.', itemNames[kind])],
  } as const;
  return [
    {
      ...at,
      method: 'get',
      id: `get${name}`,
      summary: `Reads a ${word}, as it was sent`,
      parameters: [...at.parameters, ifMatch, ifNoneMatch],
      answers: [
        { status: 200, description: `The ${word}, with its \`ETag\`.`, content: json(record) },
        { status: 304, description: 'It is the one that `If-None-Match` names.' },
      ],
      errors: [...errors, 'precondition_failed'],
    },
    {
      ...at,
      method: 'put',
      id: `put${name}`,
      summary: `Stores a ${word} in the place of what is there`,
      parameters: [...at.parameters, ifMatch, ifNoneMatch],
      body: json(record, { [word]: { summary: `A ${word}`, value: example } }),
      answers: [{ status: 200, description: `The metadata of the ${word}.`, content: json(itemSchemas[kind]) }],
      errors: [...keyErrors, ...bodyErrors, 'access_denied', 'file_not_found', 'precondition_failed'],
    },
    {
      ...at,
      method: 'delete',
      id: `delete${name}`,
      summary: `Deletes a ${word}`,
      parameters: [...at.parameters, ifMatch, ifNoneMatch],
      answers: [{ status: 204, description: 'It is gone.' }],
      errors: [...errors, 'precondition_failed'],
    },
  ];
}

function toMetadataOperations(kind: ResourceKind): ApiOperation[] {
  const singular = kind.slice(0, -1);
  const absent = kind === 'applications' ? ('deployment_not_found' as const) : ('file_not_found' as const);
  const listErrors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'invalid_request', absent];
  const name = `${singular.charAt(0).toUpperCase()}${singular.slice(1)}`;
  return [
    {
      method: 'get',
      path: `/v1/metadata/${kind}/{bucket}`,
      id: `list${name}s`,
      tag: 'Files',
      summary: `Lists the ${kind} at the top of a bucket`,
      parameters: [inBucket, ...page],
      answers: [{ status: 200, description: 'A page.', content: json(folderSchemas[kind]) }],
      errors: listErrors,
    },
    {
      method: 'get',
      path: `/v1/metadata/${kind}/{bucket}/{path}`,
      id: `get${name}Metadata`,
      tag: 'Files',
      summary: `Shows the metadata of one of the ${kind}, or lists a folder`,
      description: 'A folder is found with a slash at its end, and without one if nothing else has that path.',
      parameters: [inBucket, inPath('path', 'Its path below the bucket; it may hold slashes.', itemNames[kind]), ...page],
      answers: [
        {
          status: 200,
          description: 'The metadata, or a page of the folder.',
          content: json({ oneOf: [itemSchemas[kind], folderSchemas[kind]] }),
        },
      ],
      errors: listErrors,
    },
  ];
}
