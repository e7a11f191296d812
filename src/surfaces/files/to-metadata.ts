import type { FileFacts } from '#domain/files/file-index.ts';
import { type FilePlace, toReference } from '#domain/files/file-references.ts';
import type { FolderItem } from '#domain/files/list-folder.ts';

/** A file as callers are shown it (docs/wire.md, Files). */
export function toMetadata(file: FileFacts): Record<string, unknown> {
  const { contentType, contentLength, etag, createdAtMs, updatedAtMs } = file;
  return { ...toNode(file, 'ITEM'), contentType, contentLength, etag, createdAt: createdAtMs, updatedAt: updatedAtMs };
}

/** An item of a listing: a file, or a folder, which has no times or bytes of its own. */
export function toItem(bucket: string, item: FolderItem): Record<string, unknown> {
  if ('file' in item) return toMetadata(item.file);
  const path = item.folder.slice(0, -1);
  return { ...toNode({ bucket, path }, 'FOLDER'), url: `${toReference({ bucket, path })}/` };
}

function toNode(place: FilePlace, nodeType: 'ITEM' | 'FOLDER'): Record<string, unknown> {
  const { bucket, path } = place;
  const cut = path.lastIndexOf('/');
  const parentPath = cut === -1 ? null : path.slice(0, cut);
  return { name: path.slice(cut + 1), parentPath, bucket, url: toReference(place), nodeType, resourceType: 'FILE' };
}
