import type { ResourceKind } from '#domain/files/resource-location.ts';
import { moment, type NamedSchema, nameSchema, type Schema, text } from '../../http/openapi/operation.ts';
import { resourceTypes } from './metadata.ts';

function toNodeFields(kind: ResourceKind): Record<string, Schema> {
  return {
    parentPath: { type: ['string', 'null'], description: 'Path of the parent folder. Null at the top of the bucket.' },
    bucket: text,
    url: { type: 'string', description: `Reference, percent-encoded: \`${kind}/{bucket}/{path}\`.` },
    resourceType: { const: resourceTypes[kind] },
    permissions: {
      type: 'array',
      items: { enum: ['READ', 'WRITE'] },
      description: 'Permissions of the caller. Present only with `permissions=true`.',
    },
  };
}

function toItemSchema(kind: ResourceKind, name: string): NamedSchema {
  const content = {
    contentType: text,
    contentLength: { type: 'integer', description: 'Bytes.' },
  };
  return nameSchema(name, {
    type: 'object',
    required: ['nodeType', 'name', 'bucket', 'url', 'etag', 'createdAt', 'updatedAt'],
    properties: {
      ...toNodeFields(kind),
      name: text,
      nodeType: { const: 'ITEM' },
      ...(kind !== 'applications' && content),
      ...((kind === 'prompts' || kind === 'conversations') && {
        items: { type: 'null', description: 'Always null, because an item is not a folder.' },
      }),
      etag: { type: 'string', description: 'ETag without quotes. It changes with the content.' },
      createdAt: moment,
      updatedAt: moment,
    },
  });
}

/** Schemas of the metadata of one item, by kind. */
export const itemSchemas: Readonly<Record<ResourceKind, NamedSchema>> = {
  files: toItemSchema('files', 'FileMetadata'),
  prompts: toItemSchema('prompts', 'PromptMetadata'),
  conversations: toItemSchema('conversations', 'ConversationMetadata'),
  applications: toItemSchema('applications', 'ApplicationMetadata'),
};

/** Schemas of one page of a folder, by kind. */
export const folderSchemas: Readonly<Record<ResourceKind, NamedSchema>> = {
  files: toFolderSchema('files', 'FileFolder'),
  prompts: toFolderSchema('prompts', 'PromptFolder'),
  conversations: toFolderSchema('conversations', 'ConversationFolder'),
  applications: toFolderSchema('applications', 'ApplicationFolder'),
};

function toFolderSchema(kind: ResourceKind, name: string): NamedSchema {
  const node = { ...toNodeFields(kind), nodeType: { const: 'FOLDER' } };
  const folder = nameSchema(`${name}Item`, {
    type: 'object',
    required: ['nodeType', 'name', 'bucket', 'url'],
    properties: { ...node, name: text },
  });
  return nameSchema(name, {
    type: 'object',
    required: ['nodeType', 'name', 'bucket', 'url', 'items'],
    properties: {
      ...node,
      name: { type: ['string', 'null'], description: 'Null for a bucket.' },
      items: { type: 'array', items: { oneOf: [itemSchemas[kind], folder] } },
      nextToken: { type: ['string', 'null'], description: 'The `token` of the next page. Null or absent after the last page.' },
    },
  });
}
