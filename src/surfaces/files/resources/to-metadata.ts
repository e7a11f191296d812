import type { Permission } from '#domain/callers/held-rights.ts';
import type { FileInfo } from '#domain/files/file-index.ts';
import { type ResourceKind, type ResourceLocation, toFolder, toUrl } from '#domain/files/resource-location.ts';

/** Metadata of a stored item. Applications have no content, and a `url` as it was given. */
export type ResourceFacts = Pick<FileInfo, 'etag' | 'createdAtMs' | 'updatedAtMs'> &
  Partial<Pick<FileInfo, 'contentType' | 'contentLength'>> & { readonly url?: string | undefined };

/** Returns the permissions of the caller on an item. Undefined if the request does not ask for permissions. */
export type ShowPermissions = ((location: ResourceLocation) => readonly Permission[]) | undefined;

/** Values of `resourceType` in metadata, by kind. */
export const resourceTypes: Readonly<Record<ResourceKind, string>> = {
  files: 'FILE',
  prompts: 'PROMPT',
  conversations: 'CONVERSATION',
  applications: 'APPLICATION',
};

/** Returns the metadata of an item as the API shows it (docs/wire.md, Files). */
export function toMetadata(
  location: ResourceLocation,
  facts: ResourceFacts,
  permissions?: ShowPermissions,
): Record<string, unknown> {
  const { contentType, contentLength, url, etag, createdAtMs, updatedAtMs } = facts;
  const content = contentType === undefined ? {} : { contentType, contentLength };
  const node = { ...toNode(location, permissions), ...(url !== undefined && { url }) };
  return { ...node, ...content, etag, createdAt: createdAtMs, updatedAt: updatedAtMs };
}

/** Returns the metadata of a folder or a bucket, without times and sizes. A bucket has no name and no parent. */
export function toFolderNode(location: ResourceLocation, permissions?: ShowPermissions): Record<string, unknown> {
  if (location.path !== '') return toNode(toFolder(location), permissions);
  return { ...toNode(location, permissions), name: null };
}

function toNode(location: ResourceLocation, permissions: ShowPermissions): Record<string, unknown> {
  const { kind, bucket, path } = location;
  const isFolder = path === '' || path.endsWith('/');
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  const slashIndex = plain.lastIndexOf('/');
  return {
    name: plain.slice(slashIndex + 1),
    parentPath: slashIndex === -1 ? null : plain.slice(0, slashIndex),
    bucket,
    url: toUrl(location),
    nodeType: isFolder ? 'FOLDER' : 'ITEM',
    resourceType: resourceTypes[kind],
    ...(permissions && { permissions: permissions(location) }),
  };
}
