import { filterObjects, type JsonObject, toObject, toText } from '#base/json/json.ts';
import { readBucket } from '../service/deployments.ts';
import { encodePath, type Service } from '../service/service.ts';
import { ServiceError, toErrorDetails } from '../service/service-error.ts';
import { type FieldErrors, toFieldErrors } from './editors/form.ts';

/** Roles and user IDs that may use an application. */
export interface Access {
  readonly roles: readonly string[];
  readonly users: readonly string[];
}

/** An application of the user, as the service stores it. */
export interface OwnApplication {
  readonly id: string;
  readonly etag: string;
  readonly updatedAtMs: number;
  /** Fields of the application, without its access and metadata. */
  readonly entry: JsonObject;
  readonly access: Access;
  /** Warnings from the save request, by field. */
  readonly warnings: FieldErrors;
}

const schemaPath = 'custom_application_schemas/quickapps';
const metadataFields = ['id', 'etag', 'createdAt', 'updatedAt', 'warnings', 'userRoles', 'users'];
const maxNameChars = 40;
const maxAttempts = 20;

/** Loads the JSON Schema of quick app settings. */
export async function readSchema(service: Service): Promise<JsonObject> {
  const schema = await service.json(schemaPath);
  return toObject(schema);
}

/** Returns the ID of the quick app type at this service. */
export function getQuickAppType(): string {
  // Pattern bound: runs in the user's own tab, on one URL.
  return new URL(schemaPath, document.baseURI).href.replace(/#.*$/, '');
}

export function isQuickApp({ applicationTypeSchemaId: type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith(`/${schemaPath}`);
}

/** Lists the user's applications, the last changed first. */
export async function listApplications(service: Service): Promise<readonly OwnApplication[]> {
  const answer = await service.json(`v1/applications/${encodePath(await readBucket(service))}/`);
  const items = filterObjects(toObject(answer).data);
  return items.map(toOwnApplication).sort((left, right) => right.updatedAtMs - left.updatedAtMs);
}

/** Reads an application of the user. Throws `ServiceError` with status 404 for a shared application of another user. */
export async function readApplication(service: Service, id: string): Promise<OwnApplication> {
  // A service without stored files has no buckets.
  const bucket = await readBucket(service).catch(() => undefined);
  if (bucket !== undefined && !id.startsWith(`applications/${bucket}/`))
    throw new ServiceError({ status: 404, code: 'application_not_found', message: '' });
  const answer = await service.json(`v1/${toPath(id)}`);
  return toOwnApplication(toObject(answer));
}

export async function deleteApplication(service: Service, { id, etag }: OwnApplication): Promise<void> {
  await service.send(`v1/${toPath(id)}`, { method: 'DELETE', headers: { 'if-match': `"${etag}"` } });
}

/** Replaces the stored fields and keeps the access. Fails with 412 if the application has changed. */
export function saveApplication(
  service: Service,
  entry: JsonObject,
  { id, etag, access }: OwnApplication,
): Promise<OwnApplication> {
  const { roles, users } = access;
  const accessFields = { ...(roles.length > 0 && { userRoles: roles }), ...(users.length > 0 && { users }) };
  return put(service, id, { entry: { ...toEntry(entry), ...accessFields }, headers: { 'if-match': `"${etag}"` } });
}

/**
 * Saves a new application under an ID derived from its name. If the ID is taken, appends the first free number, for up to
 * `maxAttempts` attempts.
 */
export async function createApplication(service: Service, entry: JsonObject): Promise<OwnApplication> {
  const base = `applications/${await readBucket(service)}/${toSegment(String(entry.displayName ?? ''))}`;
  for (let attempt = 1; ; attempt += 1) {
    const id = attempt === 1 ? base : `${base}-${attempt}`;
    try {
      return await put(service, id, { entry: toEntry(entry), headers: { 'if-none-match': '*' } });
    } catch (error) {
      if (toErrorDetails(error).status !== 412 || attempt === maxAttempts) throw error;
    }
  }
}

/** Recreates a deleted application under its ID, without access for other users. Fails with 412 if it exists. */
export function recreateApplication(service: Service, entry: JsonObject, id: string): Promise<OwnApplication> {
  return put(service, id, { entry: toEntry(entry), headers: { 'if-none-match': '*' } });
}

async function put(
  service: Service,
  id: string,
  { entry, headers }: { entry: JsonObject; headers: Readonly<Record<string, string>> },
): Promise<OwnApplication> {
  const answer = await service.json(`v1/${toPath(id)}`, { method: 'PUT', body: entry, headers });
  return toOwnApplication(toObject(answer));
}

/** Returns an application ID as a URL path. Escapes in the ID stay unchanged. */
export function toPath(id: string): string {
  return /^[\w./%~!$&'()*+,;=:@-]+$/.test(id) ? id : encodePath(id);
}

/** Returns a name as one URL segment. */
function toSegment(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const segment = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  return segment.slice(0, maxNameChars).replace(/-$/, '') || 'app';
}

/** Returns whether other users have access to the stored application. */
export function isShared(stored: Pick<OwnApplication, 'access'> | undefined): boolean {
  return stored !== undefined && stored.access.roles.length + stored.access.users.length > 0;
}

/** Returns the access in a response or an exported file. */
export function toAccess({ userRoles, users }: JsonObject): Access {
  return { roles: toTexts(userRoles), users: toTexts(users) };
}

export function getName({ id, entry }: OwnApplication): string {
  return typeof entry.displayName === 'string' ? entry.displayName : (id.split('/').at(-1) ?? id);
}

/** Returns the fields in a response or an exported file, without the access and metadata. */
export function toEntry(answer: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => !metadataFields.includes(key)));
}

function toOwnApplication(answer: JsonObject): OwnApplication {
  return {
    id: String(answer.id),
    etag: String(answer.etag),
    updatedAtMs: Number(answer.updatedAt),
    entry: toEntry(answer),
    access: toAccess(answer),
    warnings: toWarnings(answer.warnings),
  };
}

function toWarnings(value: unknown): FieldErrors {
  const warnings = filterObjects(value);
  return new Map(warnings.flatMap(({ path, message }) => [...toFieldErrors(String(message), String(path))]));
}

/** A user with access, or one that a search found. */
export interface Person {
  readonly id: string;
  /** Name, or the ID if the identity provider sends no name. */
  readonly name: string;
  /** Address or ID that distinguishes people with the same name. '' if the name is the ID. */
  readonly detail: string;
}

/** Users and roles that may use an application, with the ETag of the application. */
export interface NamedAccess {
  readonly etag: string;
  readonly roles: readonly string[];
  readonly people: readonly Person[];
}

/** Users and roles that a search found. */
export interface Matches {
  readonly people: readonly Person[];
  readonly roles: readonly string[];
}

export async function readAccess(service: Service, id: string, signal?: AbortSignal): Promise<NamedAccess> {
  return toNamedAccess(await service.json(toAccessPath(id), signal && { signal }));
}

/** Replaces the access of the version that was read. Fails with 412 if the application has changed. */
export async function writeAccess(
  service: Service,
  id: string,
  { etag, roles, users }: Access & { readonly etag: string },
): Promise<NamedAccess> {
  const headers = { 'if-match': `"${etag}"` };
  return toNamedAccess(await service.json(toAccessPath(id), { method: 'PUT', body: { roles, users }, headers }));
}

/** Finds users and roles by a text. An empty text finds the roles of the user. */
export async function findPeople(service: Service, search: string, signal: AbortSignal): Promise<Matches> {
  const answer = toObject(await service.json(`v1/people?search=${encodeURIComponent(search)}`, { signal }));
  return { people: toPeople(answer.data), roles: toTexts(answer.roles) };
}

function toAccessPath(id: string): string {
  return `v1/access/${toPath(id)}`;
}

function toNamedAccess(answer: unknown): NamedAccess {
  const { etag, roles, users } = toObject(answer);
  return { etag: String(etag), roles: toTexts(roles), people: toPeople(users) };
}

function toPeople(list: unknown): readonly Person[] {
  const items = filterObjects(list);
  return items.map(({ id, name, address }) => {
    const userId = String(id);
    if (typeof name !== 'string') return { id: userId, name: userId, detail: toText(address) };
    const detail = typeof address === 'string' ? address : userId;
    return { id: userId, name, detail };
  });
}

function toTexts(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

/** A version of an application. The highest number is the current one. */
export interface Version {
  readonly version: number;
  readonly savedAtMs: number;
}

/** Lists the versions, the newest first. */
export async function listVersions(service: Service, id: string): Promise<readonly Version[]> {
  const answer = await service.json(`v1/versions/${toPath(id)}`);
  const items = filterObjects(toObject(answer).data);
  return items.map(({ version, savedAt }) => ({ version: Number(version), savedAtMs: Number(savedAt) }));
}

export async function readVersion(service: Service, id: string, version: number): Promise<JsonObject> {
  const answer = await service.json(`v1/versions/${toPath(id)}?version=${version}`);
  const { version: _version, ...fields } = toObject(answer);
  return toEntry(fields);
}

/** Restores a version. Fails with 412 if the application has changed since it was read. */
export async function restoreVersion(service: Service, { id, etag }: OwnApplication, version: number): Promise<OwnApplication> {
  const headers = { 'if-match': `"${etag}"` };
  const answer = await service.json(`v1/versions/${toPath(id)}?version=${version}`, { method: 'POST', headers });
  return toOwnApplication(toObject(answer));
}
