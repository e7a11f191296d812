import type { Permission } from '#domain/callers/held-rights.ts';
import type { FileFacts } from '#domain/files/file-index.ts';
import { asFolder, type ResourceKind, type ResourcePlace, toUrl } from '#domain/files/resource-place.ts';

/** What is known of something stored; applications have no content, and the `url` that they were given. */
export type ResourceFacts = Pick<FileFacts, 'etag' | 'createdAtMs' | 'updatedAtMs'> &
  Partial<Pick<FileFacts, 'contentType' | 'contentLength'>> & { readonly url?: string | undefined };

/** What a caller may do with each thing that is shown; undefined: it is not asked for. */
export type ShowPermissions = ((place: ResourcePlace) => readonly Permission[]) | undefined;

/** What the kinds are called in metadata. */
export const resourceTypes: Readonly<Record<ResourceKind, string>> = {
  files: 'FILE',
  prompts: 'PROMPT',
  conversations: 'CONVERSATION',
  applications: 'APPLICATION',
};

/** Something stored as callers are shown it (docs/wire.md, Files). */
export function toMetadata(place: ResourcePlace, facts: ResourceFacts, permissions?: ShowPermissions): Record<string, unknown> {
  const { contentType, contentLength, url, etag, createdAtMs, updatedAtMs } = facts;
  const content = contentType === undefined ? {} : { contentType, contentLength };
  const node = { ...toNode(place, permissions), ...(url !== undefined && { url }) };
  return { ...node, ...content, etag, createdAt: createdAtMs, updatedAt: updatedAtMs };
}

/** A folder, or a whole bucket, which has neither a name nor a parent; it has no times or bytes of its own. */
export function toFolderNode(place: ResourcePlace, permissions?: ShowPermissions): Record<string, unknown> {
  if (place.path !== '') return toNode(asFolder(place), permissions);
  return { ...toNode(place, permissions), name: null };
}

function toNode(place: ResourcePlace, permissions: ShowPermissions): Record<string, unknown> {
  const { kind, bucket, path } = place;
  const isFolder = path === '' || path.endsWith('/');
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  const cut = plain.lastIndexOf('/');
  return {
    name: plain.slice(cut + 1),
    parentPath: cut === -1 ? null : plain.slice(0, cut),
    bucket,
    url: toUrl(place),
    nodeType: isFolder ? 'FOLDER' : 'ITEM',
    resourceType: resourceTypes[kind],
    ...(permissions && { permissions: permissions(place) }),
  };
}
