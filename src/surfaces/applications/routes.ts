import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { maskSecrets } from '#contract/quick-app/secrets.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { type ApplicationLocation, createApplicationNotFoundError } from '#domain/deployments/application-location.ts';
import { requireCapacity } from '#domain/deployments/application-resources.ts';
import { type StoredApplication, toPublicId } from '#domain/deployments/application-store.ts';
import { getPublicFeatures } from '#domain/deployments/deployment.ts';
import { createPreconditionError, type WriteCondition } from '#domain/files/write-condition.ts';
import type { AuditRecord } from '#domain/usage/journal.ts';
import { isNotModified, toWriteCondition } from '../http/conditions.ts';
import { createDisconnectSignal, readRequest } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';
import {
  type ApplicationDeps,
  describeSharing,
  findApplication,
  getQuery,
  identifyBuilder,
  identifyOwner,
  isOwner,
  parseLocation,
  replaceSharing,
  requireAccess,
  requireOwner,
  versionNotFound,
} from './application-access.ts';
import { findWarnings } from './find-warnings.ts';
import { readApplication } from './read-application.ts';

const base = '/v1/applications/';
const versionsBase = '/v1/versions/applications/';

/**
 * Serves `/v1/applications/{bucket}/{path}` (applications that users save), `/v1/applications/{bucket}/` (the list of the
 * caller's applications), and their versions (docs/wire.md, Applications).
 */
export function applicationRoutes(app: FastifyInstance, deps: ApplicationDeps): void {
  const url = `${base}*`;
  serveEarly(app, { method: 'GET', url }, (request, reply) => get(deps, request, reply));
  serveEarly(app, { method: 'PUT', url }, (request, reply) => put(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url }, (request, reply) => remove(deps, request, reply));
  versionRoutes(app, deps);
}

async function get(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const caller = await identifyBuilder(deps, request);
  const bucket = getBucket(request);
  if (bucket !== undefined) return list(deps, caller, bucket);
  const location = parseLocation(base, request);
  const isOwn = isOwner(caller, location);
  if (!isOwn) await requireAccess(deps, caller, location);
  const stored = await findApplication(deps, location);
  reply.header('etag', `"${stored.etag}"`);
  if (isNotModified(request.headers, stored)) {
    reply.code(304);
    return undefined;
  }
  return isOwn ? toOwnerView(stored) : toSharedView(stored);
}

async function list({ store }: ApplicationDeps, caller: Caller, bucket: string): Promise<unknown> {
  requireOwner(caller, { bucket });
  return { object: 'list', data: (await store.list(caller.subject)).map(toOwnerView) };
}

async function put(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { store, catalog, files } = deps;
  const snapshot = deps.snapshot();
  const maxBytes = Math.min(storedEntries.application.maxBytes, snapshot.configuration.security.maxBodyBytes);
  const { caller, body } = await readRequest(request, { maxBytes }, () => identifyBuilder(deps, request));
  const location = parseLocation(base, request);
  requireOwner(caller, location);
  const before = await store.find(location.id);
  const condition = toWriteCondition(request.headers, before);
  const { people } = deps;
  const entry = await readApplication(body(), { caller, location, snapshot, catalog, people, stored: before, files });
  if (before === undefined) requireCapacity(await store.list(caller.subject));
  const stored = await writeApplication(deps, { caller, location, entry, before, condition, requestId: request.id });
  reply.code(before === undefined ? 201 : 200).header('etag', `"${stored.etag}"`);
  const signal = createDisconnectSignal(reply.raw);
  const warnings = await findWarnings(entry, { caller, snapshot, catalog, files, survey: deps.survey, signal });
  return { ...toOwnerView(stored), ...(warnings.length > 0 && { warnings }) };
}

async function remove(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await identifyBuilder(deps, request);
  const { id, bucket } = parseLocation(base, request);
  requireOwner(caller, { bucket });
  const condition = toWriteCondition(request.headers, await deps.store.find(id));
  const outcome = await deps.store.delete(id, condition);
  if (outcome === 'absent') throw createApplicationNotFoundError();
  if (outcome === 'condition_failed') throw createPreconditionError();
  deps.recordAudit({ action: 'application.deleted', subject: caller.subject, object: id, requestId: request.id });
  reply.code(204);
}

/** Returns the bucket if the path consists of only a bucket. */
function getBucket({ url }: FastifyRequest): string | undefined {
  return /^([^/]+)\/?$/.exec(stripPathPrefix(base, url))?.[1];
}

/** Serves `/v1/versions/applications/{bucket}/{path}`: lists, returns, and restores versions for the owner. */
function versionRoutes(app: FastifyInstance, deps: ApplicationDeps): void {
  const url = `${versionsBase}*`;
  serveEarly(app, { method: 'GET', url }, (request) => getVersions(deps, request));
  serveEarly(app, { method: 'POST', url }, (request, reply) => restore(deps, request, reply));
}

async function getVersions(deps: ApplicationDeps, request: FastifyRequest): Promise<unknown> {
  const { location } = await identifyOwner(deps, versionsBase, request);
  const version = parseVersion(request);
  if (version !== undefined) return { ...toOwnerView(await findVersion(deps, location.id, version)), version };
  const versions = await deps.store.listVersions(location.id);
  if (versions.length === 0) throw createApplicationNotFoundError();
  return { object: 'list', data: versions.map(({ savedAtMs, ...savedVersion }) => ({ ...savedVersion, savedAt: savedAtMs })) };
}

/**
 * Saves a version again, with its secrets. Keeps the current access, so that a restore does not undo the removal of a user. Throws
 * `invalid_request` if the version is no longer valid.
 */
async function restore(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { caller, location } = await identifyOwner(deps, versionsBase, request);
  const version = parseVersion(request);
  if (version === undefined) throw invalidVersion();
  const current = await findApplication(deps, location);
  const condition = toWriteCondition(request.headers, current);
  const restoredVersion = await findVersion(deps, location.id, version);
  const stored = { ...restoredVersion, entry: replaceSharing(current.entry, restoredVersion.entry) };
  const entry = await readApplication(stored.entry, { ...deps, caller, location, snapshot: deps.snapshot(), stored });
  // The access comes from `current`, and the application must still exist, so that a concurrent change or deletion is not undone.
  const savedEntry = {
    caller,
    location,
    entry,
    before: current,
    condition: condition === undefined || condition === 'present' ? { etag: current.etag } : condition,
    requestId: request.id,
    details: { restored: version },
  };
  const restored = await writeApplication(deps, savedEntry);
  reply.header('etag', `"${restored.etag}"`);
  return toOwnerView(restored);
}

async function findVersion({ store }: ApplicationDeps, id: string, version: number): Promise<StoredApplication> {
  const savedVersion = await store.findVersion(id, version);
  if (savedVersion !== undefined) return savedVersion;
  if ((await store.listVersions(id)).length === 0) throw createApplicationNotFoundError();
  throw versionNotFound(version);
}

/** Returns the requested version, or undefined if the request has none. Throws `invalid_request`. */
function parseVersion(request: FastifyRequest): number | undefined {
  const versionText = getQuery(request).get('version');
  if (versionText === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(versionText)) throw invalidVersion();
  return Number(versionText);
}

function invalidVersion(): ParleyError {
  return new ParleyError('invalid_request', 'version must be a positive integer.', { param: 'version' });
}

/** A validated application to be written. */
interface ApplicationWrite {
  readonly caller: Caller;
  readonly location: ApplicationLocation;
  readonly entry: ApplicationEntry;
  /** The application before the write. Undefined for a new one. */
  readonly before: StoredApplication | undefined;
  readonly condition: WriteCondition;
  readonly requestId: string;
  /** Details for the audit log. */
  readonly details?: AuditRecord['details'];
}

/** Writes an application and adds audit records of the change and of a change of its access. Throws `precondition_failed`. */
async function writeApplication(
  { store, clock, newId, recordAudit }: ApplicationDeps,
  { caller, location: { id, spelling }, entry, before, condition, requestId, details }: ApplicationWrite,
): Promise<StoredApplication> {
  const nowMs = clock.epochMs();
  const application = { id, spelling, owner: caller.subject, entry, etag: newId(), createdAtMs: nowMs, updatedAtMs: nowMs };
  const stored = await store.put(application, condition);
  if (stored === undefined) throw createPreconditionError();
  const auditRecord = { action: 'application.saved', subject: caller.subject, object: id, requestId } as const;
  recordAudit({ ...auditRecord, ...(details !== undefined && { details }) });
  const sharing = describeSharing(before?.entry, entry);
  if (sharing !== undefined) recordAudit({ ...auditRecord, action: 'application.shared', details: sharing });
  return stored;
}

/** Returns the owner's view of an application: the entry without secrets, and its metadata (docs/wire.md, Applications). */
function toOwnerView({ entry, ...stored }: StoredApplication): Record<string, unknown> {
  const { applicationProperties: properties } = entry;
  return { ...entry, ...(properties && { applicationProperties: maskSecrets(properties) }), ...toMetadata(stored) };
}

/** Returns the view for other users who may use the application: without endpoint, properties, defaults, roles, and users. */
function toSharedView({ entry, ...stored }: StoredApplication): Record<string, unknown> {
  const { endpoint: _endpoint, applicationProperties: _properties, defaults: _defaults, ...remaining } = entry;
  const { userRoles: _roles, users: _users, ...shared } = remaining;
  return { ...shared, ...(shared.features && { features: getPublicFeatures(shared) }), ...toMetadata(stored) };
}

function toMetadata({ etag, createdAtMs, updatedAtMs, ...fields }: Omit<StoredApplication, 'entry'>): Record<string, unknown> {
  return { id: toPublicId(fields), etag, createdAt: createdAtMs, updatedAt: updatedAtMs };
}
