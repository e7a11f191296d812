import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { readBucket } from '../service/deployments.ts';
import { encodePath, type Service } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';
import { type FieldErrors, toFieldErrors } from './editors/field-errors.ts';

/** An application that the user made: what was saved, and what the service knows of it. */
export interface OwnApplication {
  readonly id: string;
  readonly etag: string;
  readonly updatedAtMs: number;
  readonly entry: JsonObject;
  /** Warnings of the service from the save request, by field. */
  readonly warnings: FieldErrors;
}

const schemaPath = 'custom_application_schemas/quickapps';
const answerFields = ['id', 'etag', 'createdAt', 'updatedAt', 'warnings'];
const maxNameChars = 40;
const maxAttempts = 20;

/** The JSON Schema that the settings of a quick app follow. */
export async function readSchema(service: Service): Promise<JsonObject> {
  const schema = await service.json(schemaPath);
  return isJsonObject(schema) ? schema : {};
}

/** The id of the type of quick apps at this service. */
export function quickAppType(): string {
  // Pattern bound: the user's own tab: one URL.
  return new URL(schemaPath, document.baseURI).href.replace(/#.*$/, '');
}

export function isQuickApp({ applicationTypeSchemaId: type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith(`/${schemaPath}`);
}

/** One's own, the last changed first. */
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

/** Writes over what was read before, and over nothing else (412). */
export function saveApplication(service: Service, entry: JsonObject, { id, etag }: OwnApplication): Promise<OwnApplication> {
  return put(service, id, { entry, condition: { 'if-match': `"${etag}"` } });
}

/** Saves a new one under an id made of its name; of names that are taken the next free one. */
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

/** The id of an application in a path, where it stands as its maker spelled it. */
export function toPath(id: string): string {
  return /^[\w./%~!$&'()*+,;=:@-]+$/.test(id) ? id : encodePath(id);
}

/** A name as one segment of an address. */
function toSegment(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, maxNameChars) || 'app'
  );
}

export function getName({ id, entry }: OwnApplication): string {
  return typeof entry.displayName === 'string' ? entry.displayName : (id.split('/').at(-1) ?? id);
}

/** What of an answer, or of an exported file, is to be saved. */
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
