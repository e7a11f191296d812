import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { readBucket } from '../service/deployments.ts';
import { encodePath, type Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { type FieldErrors, toFieldErrors } from './editors/field-errors.ts';

/** An application of the user, with its state at the service. */
export interface OwnApplication {
  readonly id: string;
  readonly etag: string;
  readonly updatedAtMs: number;
  readonly entry: JsonObject;
  /** Warnings from the save request, by field. */
  readonly warnings: FieldErrors;
}

const schemaPath = 'custom_application_schemas/quickapps';
const answerFields = ['id', 'etag', 'createdAt', 'updatedAt', 'warnings'];
const maxNameChars = 40;
const maxAttempts = 20;

/** Loads the JSON Schema of quick app settings. */
export async function readSchema(service: Service): Promise<JsonObject> {
  const schema = await service.json(schemaPath);
  return isJsonObject(schema) ? schema : {};
}

/** Returns the ID of the quick app type at this service. */
export function quickAppType(): string {
  // Pattern bound: the user's own tab: one URL.
  return new URL(schemaPath, document.baseURI).href.replace(/#.*$/, '');
}

export function isQuickApp({ applicationTypeSchemaId: type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith(`/${schemaPath}`);
}

/** Lists the user's applications, the last changed first. */
export async function listApplications(service: Service): Promise<readonly OwnApplication[]> {
  const answer = await service.json(`v1/applications/${encodePath(await readBucket(service))}/`);
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return items.map(toOwnApplication).sort((left, right) => right.updatedAtMs - left.updatedAtMs);
}

export async function readApplication(service: Service, id: string): Promise<OwnApplication> {
  const answer = await service.json(`v1/${toPath(id)}`);
  return toOwnApplication(isJsonObject(answer) ? answer : {});
}

export async function deleteApplication(service: Service, { id, etag }: OwnApplication): Promise<void> {
  await service.send(`v1/${toPath(id)}`, { method: 'DELETE', headers: { 'if-match': `"${etag}"` } });
}

/** Overwrites only the version that was read, otherwise fails with 412. */
export function saveApplication(service: Service, entry: JsonObject, { id, etag }: OwnApplication): Promise<OwnApplication> {
  return put(service, id, { entry, condition: { 'if-match': `"${etag}"` } });
}

/** Saves a new application under an ID derived from its name. If the name is taken, the next free one is used. */
export async function createApplication(service: Service, entry: JsonObject): Promise<OwnApplication> {
  const base = `applications/${await readBucket(service)}/${toSegment(String(entry.displayName ?? ''))}`;
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}-${count}`;
    try {
      return await put(service, id, { entry, condition: { 'if-none-match': '*' } });
    } catch (error) {
      if (toErrorDetails(error).status !== 412 || count === maxAttempts) throw error;
    }
  }
}

async function put(
  service: Service,
  id: string,
  { entry, condition }: { entry: JsonObject; condition: Readonly<Record<string, string>> },
): Promise<OwnApplication> {
  const answer = await service.json(`v1/${toPath(id)}`, { method: 'PUT', body: entry, headers: condition });
  return toOwnApplication(isJsonObject(answer) ? answer : {});
}

/** Returns an application ID as a path. The ID keeps the spelling of its owner. */
export function toPath(id: string): string {
  return /^[\w./%~!$&'()*+,;=:@-]+$/.test(id) ? id : encodePath(id);
}

/** Returns a name as one URL segment. */
function toSegment(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, maxNameChars) || 'app'
  );
}

/** Whether other users have access to the stored application. */
export function isShared(stored: OwnApplication | undefined): boolean {
  const roles = stored?.entry.userRoles;
  return Array.isArray(roles) && roles.length > 0;
}

export function getName({ id, entry }: OwnApplication): string {
  return typeof entry.displayName === 'string' ? entry.displayName : (id.split('/').at(-1) ?? id);
}

/** Returns the parts of a response or an exported file that are saved. */
export function toEntry(answer: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => !answerFields.includes(key)));
}

export function toOwnApplication(answer: JsonObject): OwnApplication {
  return {
    id: String(answer.id),
    etag: String(answer.etag),
    updatedAtMs: Number(answer.updatedAt),
    entry: toEntry(answer),
    warnings: toWarnings(answer.warnings),
  };
}

function toWarnings(value: unknown): FieldErrors {
  const warnings = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return new Map(warnings.flatMap(({ path, message }) => [...toFieldErrors(String(message), String(path))]));
}
