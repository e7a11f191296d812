import type { FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { maxSharedWith } from '#contract/application-access.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Issue } from '#contract/configuration/issue.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { mayUse } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import type { Person } from '#domain/callers/people-store.ts';
import {
  type ApplicationLocation,
  createApplicationNotFoundError,
  parseApplicationLocation,
} from '#domain/deployments/application-location.ts';
import type { ApplicationStore, StoredApplication } from '#domain/deployments/application-store.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { toBucket } from '#domain/files/bucket.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { ToolsetSurvey } from '#domain/tools/tool.ts';
import type { AuditRecord } from '#domain/usage/journal.ts';
import type { People } from '#services/scim/people.ts';
import { identifyUser, type SurfaceDeps } from '../http/read-request.ts';

/** Dependencies of the application routes. */
export interface ApplicationDeps extends SurfaceDeps {
  readonly store: ApplicationStore;
  readonly catalog: Catalog;
  /** Users that applications can be shared with. Undefined if the service does not store who has signed in. */
  readonly people: People | undefined;
  /** Index of files, which include the documents of applications. Undefined if no files are stored. */
  readonly files: Pick<FileIndex, 'findAll'> | undefined;
  /** Returns the current tools of an MCP server. Rejects with ToolError, or with the signal's reason. */
  readonly survey: (settings: McpToolsetSettings, signal: AbortSignal) => Promise<ToolsetSurvey>;
  /** Returns a new ETag. */
  readonly newId: () => string;
}

/** Returns the caller. Throws `access_denied` for per-request keys: an application may not manage its user's applications. */
export function identifyBuilder(deps: { readonly identify: Identify }, request: FastifyRequest): Promise<Caller> {
  return identifyUser(deps, request, 'see or change applications');
}

/**
 * Returns the caller and the application that the path names below `base`. Throws `deployment_not_found`, or `access_denied` if
 * the caller is not the owner.
 */
export async function identifyOwner(
  deps: { readonly identify: Identify },
  base: string,
  request: FastifyRequest,
): Promise<{ readonly caller: Caller; readonly location: ApplicationLocation }> {
  const caller = await identifyBuilder(deps, request);
  const location = parseLocation(base, request);
  requireOwner(caller, location);
  return { caller, location };
}

export function isOwner({ subject }: Caller, { bucket }: Pick<ApplicationLocation, 'bucket'>): boolean {
  return toBucket(subject) === bucket;
}

/** Throws `access_denied` if the caller does not own the bucket. */
export function requireOwner(caller: Caller, location: Pick<ApplicationLocation, 'bucket'>): void {
  if (!isOwner(caller, location)) throw notYourBucket();
}

/**
 * Throws `access_denied` if the caller may not use the application, or if it does not exist, so that the error does not reveal
 * which applications exist.
 */
export async function requireAccess(
  { catalog, snapshot }: { readonly catalog: Catalog; readonly snapshot: () => ConfigSnapshot },
  caller: Caller,
  { id }: ApplicationLocation,
): Promise<void> {
  const stored = await catalog.findStored(id);
  if (stored === undefined || !mayUse(snapshot(), caller, stored)) throw notYourBucket();
}

function notYourBucket(): ParleyError {
  return new ParleyError('access_denied', 'This bucket is not yours. GET /v1/bucket returns your bucket.');
}

/**
 * Returns the application that a path names below `base`. Throws `deployment_not_found` if the path cannot name an application.
 */
export function parseLocation(base: string, { url }: FastifyRequest): ApplicationLocation {
  const location = parseApplicationLocation(stripPathPrefix(base, url));
  if (location === undefined) throw createApplicationNotFoundError();
  return location;
}

/** Returns a saved application. Throws `deployment_not_found` if it does not exist. */
export async function findApplication(
  { store }: { readonly store: Pick<ApplicationStore, 'find'> },
  { id }: Pick<ApplicationLocation, 'id'>,
): Promise<StoredApplication> {
  const stored = await store.find(id);
  if (stored === undefined) throw createApplicationNotFoundError();
  return stored;
}

/** Returns the error for a version of an existing application. */
export function versionNotFound(version: number): ParleyError {
  return new ParleyError('deployment_not_found', `Version ${version} of the application does not exist or is no longer stored.`);
}

/** Returns the query parameters of a request. */
export function getQuery({ raw }: FastifyRequest): URLSearchParams {
  const [, query = ''] = (raw.url ?? '').split('?', 2);
  return new URLSearchParams(query);
}

/** Roles and users with access to a saved application. */
export type Sharing = Pick<ApplicationEntry, 'userRoles' | 'users'>;

const maxIdLength = 200;
const tooLongMessage = `must have at most ${maxSharedWith} entries`;

/** Returns an issue for each list that is too long. Otherwise returns an issue for each new user that Parley does not know. */
export async function findSharingIssues(
  { userRoles = [], users = [] }: Sharing,
  { stored, people }: { readonly stored: Sharing | undefined; readonly people: Pick<People, 'find'> | undefined },
): Promise<readonly Issue[]> {
  const longLists = Object.entries({ userRoles, users }).filter(([, names]) => names.length > maxSharedWith);
  if (longLists.length > 0) return longLists.map(([field]) => ({ path: [field], message: tooLongMessage }));
  const added = users.filter((user) => stored?.users?.includes(user) !== true);
  const peopleById: ReadonlyMap<string, Person> = (await people?.find(added)) ?? new Map();
  return users.flatMap((user, index) => {
    if (peopleById.has(user) || !added.includes(user)) return [];
    const message = `names ${JSON.stringify(user.slice(0, maxIdLength))}, a user that Parley does not know. Ask the person to sign in once, then share again`;
    return [{ path: ['users', index], message }];
  });
}

/** Returns the audit details of a change of access, or undefined if the access did not change. */
export function describeSharing(before: Sharing | undefined, after: Sharing): AuditRecord['details'] | undefined {
  const added = (key: keyof Sharing) => listMissing(after[key], before?.[key]);
  const removed = (key: keyof Sharing) => listMissing(before?.[key], after[key]);
  const details = {
    ...{ addedUsers: added('users'), removedUsers: removed('users') },
    ...{ addedRoles: added('userRoles'), removedRoles: removed('userRoles') },
  };
  const changed = Object.entries(details).filter(([, names]) => names !== '');
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Returns the settings of one entry with the access of another. */
export function replaceSharing({ userRoles, users }: Sharing, entry: ApplicationEntry): ApplicationEntry {
  const { userRoles: _roles, users: _users, ...settings } = entry;
  return { ...settings, ...(userRoles !== undefined && { userRoles }), ...(users !== undefined && { users }) };
}

function listMissing(names: readonly string[] = [], present: readonly string[] = []): string {
  return names.filter((name) => !present.includes(name)).join(', ');
}
