import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Permission } from '#domain/callers/held-rights.ts';
import { createApplicationNotFoundError } from '#domain/deployments/application-location.ts';
import type { ApplicationResources } from '#domain/deployments/application-resources.ts';
import { publicBucket } from '#domain/files/bucket.ts';
import type { FileInfo } from '#domain/files/file-index.ts';
import type { FolderPage, FolderQuery } from '#domain/files/list-folder.ts';
import {
  type ContentKind,
  isFolder,
  isTooLong,
  maxNamedPathBytes,
  parseLocation,
  type ResourceKind,
  type ResourceLocation,
  toFolder,
  toUrl,
} from '#domain/files/resource-location.ts';
import { canRead, listPermissions } from '#domain/files/resource-rights.ts';
import { createResourceNotFoundError, type StoredResources } from '#services/files/stored-resources.ts';
import { type Query, readFlag, readLimit } from '../../http/query.ts';
import type { SurfaceDeps } from '../../http/read-request.ts';

/** Dependencies of the routes for stored items. */
export interface ResourceDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot'> {
  /** Files, prompts, and conversations. */
  readonly contents: StoredResources;
  readonly applications: ApplicationResources;
}

type MetadataItem = Record<string, unknown>;

/** Parameters of a metadata request. */
interface MetadataQuery extends FolderQuery {
  readonly permissions: ShowPermissions;
}

const itemLimit = { min: 0, max: 1000, fallback: 100 };

/**
 * Returns the metadata of an item, or one page of a folder. The path of a folder may end with a slash. A bucket alone is a folder
 * too. Throws the 404 of the kind, or `invalid_request`.
 */
export async function readMetadata(
  deps: ResourceDeps,
  caller: Caller,
  { kind, encoded, query }: { kind: ResourceKind; encoded: string; query: Query },
): Promise<MetadataItem> {
  const location = parseLocation(kind, encoded);
  if (location === undefined) throw notFound(kind);
  if (isTooLong(location)) throw pathTooLong();
  const metadataQuery = parseQuery(caller, query);
  if (isFolder(location)) return readFolder(deps, caller, { folder: location, metadataQuery });
  const facts = await findItem(deps, caller, location);
  if (facts !== undefined) return { ...toMetadata(location, facts, metadataQuery.permissions), ...toItemsField(kind) };
  const folder = toFolder(location);
  if (!canRead(caller, folder)) throw notFound(kind);
  return readFolder(deps, caller, { folder, metadataQuery });
}

function findItem(
  { contents, applications }: ResourceDeps,
  caller: Caller,
  location: ResourceLocation,
): Promise<ResourceFacts | undefined> {
  const { kind } = location;
  return kind === 'applications' ? applications.find(caller, location) : contents.find(caller, { ...location, kind });
}

async function readFolder(
  deps: ResourceDeps,
  caller: Caller,
  { folder, metadataQuery }: { folder: ResourceLocation; metadataQuery: MetadataQuery },
): Promise<MetadataItem> {
  const { kind, bucket, path } = folder;
  const { limit, permissions } = metadataQuery;
  const { items, next } = await listFolder(deps, caller, folder, { ...metadataQuery, limit: Math.max(limit, 1) });
  if (items.length === 0 && path !== '' && bucket !== publicBucket && metadataQuery.after === undefined) throw notFound(kind);
  const visibleItems = items.slice(0, limit).map((item) => {
    if ('folder' in item) return toFolderNode({ kind, bucket, path: item.folder }, permissions);
    return toMetadata({ kind, bucket, path: item.item.path }, item.item, permissions);
  });
  return { ...toFolderNode(folder, permissions), items: visibleItems, ...toNextTokenField(kind, limit === 0 ? undefined : next) };
}

function listFolder(
  { contents, applications }: ResourceDeps,
  caller: Caller,
  folder: ResourceLocation,
  query: FolderQuery,
): Promise<FolderPage<ResourceFacts & { readonly path: string }>> {
  const { kind } = folder;
  return kind === 'applications' ? applications.list(caller, folder, query) : contents.list(caller, { ...folder, kind }, query);
}

/** Clients of prompts and conversations parse item metadata as folder metadata, which requires the field `items`. */
function toItemsField(kind: ResourceKind): { readonly items?: null } {
  return kind === 'prompts' || kind === 'conversations' ? { items: null } : {};
}

/** Returns `nextToken`. On the last page it is null for files, and absent for other kinds. */
function toNextTokenField(kind: ResourceKind, next: string | undefined): { readonly nextToken?: string | null } {
  if (next !== undefined) return { nextToken: toToken(next) };
  return kind === 'files' ? { nextToken: null } : {};
}

function parseQuery(caller: Caller, query: Query): MetadataQuery {
  return {
    after: parseToken(query.token),
    limit: readLimit(query, itemLimit),
    isRecursive: readFlag(query, 'recursive'),
    permissions: readFlag(query, 'permissions') ? (location) => listPermissions(caller, location) : undefined,
  };
}

function toToken(path: string): string {
  return Buffer.from(path).toString('base64url');
}

function parseToken(token: unknown): string | undefined {
  if (token === undefined || token === '') return undefined;
  const after = typeof token === 'string' ? Buffer.from(token, 'base64url').toString() : '';
  if (after !== '' && toToken(after) === token && !after.includes('\0')) return after;
  throw createRequestError('token', 'must be the nextToken of the previous page');
}

/** Returns the 404 error of a kind. */
export function notFound(kind: ResourceKind): ParleyError {
  return kind === 'applications' ? createApplicationNotFoundError() : createResourceNotFoundError({ kind });
}

/** Returns the 404 error for a write to a path that is not valid for the kind. The message explains the rules for paths. */
export function invalidPath(kind: ContentKind): ParleyError {
  const singular = kind.slice(0, -1);
  return new ParleyError(
    'file_not_found',
    `This path is not valid for a ${singular}. Use {bucket}/{path} in percent-encoded UTF-8, without a slash at the end. Segments must not be empty, "." or "..", and must not contain control characters.`,
  );
}

export function pathTooLong(): ParleyError {
  return new ParleyError('invalid_request', `The path is longer than ${maxNamedPathBytes} bytes in UTF-8.`, { param: 'path' });
}

/** Metadata of a stored item. An application has no content type and length, but the `url` that its client sent. */
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
function toFolderNode(location: ResourceLocation, permissions?: ShowPermissions): Record<string, unknown> {
  if (location.path !== '') return toNode(toFolder(location), permissions);
  return { ...toNode(location, permissions), name: null };
}

function toNode(location: ResourceLocation, permissions: ShowPermissions): Record<string, unknown> {
  const { kind, bucket, path } = location;
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  const slashIndex = plain.lastIndexOf('/');
  return {
    name: plain.slice(slashIndex + 1),
    parentPath: slashIndex === -1 ? null : plain.slice(0, slashIndex),
    bucket,
    url: toUrl(location),
    nodeType: isFolder(location) ? 'FOLDER' : 'ITEM',
    resourceType: resourceTypes[kind],
    ...(permissions && { permissions: permissions(location) }),
  };
}
