import { filterObjects, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { readBucket } from './deployments.ts';
import { encodePath, type Service } from './service.ts';
import { toErrorDetails } from './service-error.ts';

/** Folders of the user's documents: prompts for messages (`said`), presets for settings, the memory, and the projects of chats. */
export type DocumentFolder = 'said' | 'presets' | 'memory' | 'projects';

/** Dispatches an event named like the folder when this page saves, renames, or deletes a document. */
export const documentChanges = new EventTarget();

/** Age after which cached data is loaded again, because another device may have changed it. */
const maxAgeMs = 60_000;
/** Maximum number of documents in a list, which is also the maximum of the service. */
const maxListed = 1000;

/** In-memory cache of the lists and documents of a user. */
class DocumentCache {
  readonly #items = new Map<string, { readonly readAtMs: number; readonly data: Promise<unknown> }>();

  /** Returns cached data, or loads it. Data older than `maxAgeMs` is still returned, and is loaded again for the next call. */
  get<Data>(key: string, load: () => Promise<Data>): Promise<Data> {
    const item = this.#items.get(key);
    const cachedData = item?.data as Promise<Data> | undefined;
    if (item !== undefined && cachedData !== undefined && Date.now() - item.readAtMs < maxAgeMs) return cachedData;
    const data = load();
    this.set(key, cachedData === undefined ? data : data.catch(() => cachedData));
    if (cachedData === undefined) data.catch(() => this.#items.delete(key));
    return cachedData ?? data;
  }

  set(key: string, data: Promise<unknown>): void {
    this.#items.set(key, { readAtMs: Date.now(), data });
  }

  delete(key: string): void {
    this.#items.delete(key);
  }
}

const caches = new WeakMap<Service, DocumentCache>();

function getCache(service: Service): DocumentCache {
  const cache = caches.get(service) ?? new DocumentCache();
  caches.set(service, cache);
  return cache;
}

/** Lists the names in a folder in order. Throws `ServiceError`. */
export async function listDocuments(service: Service, folder: DocumentFolder): Promise<readonly string[]> {
  const bucket = await getBucketPath(service);
  // Browsers report each request for a missing folder as an error. A bucket always exists.
  const folders = await getCache(service).get('', () => listItems(service, bucket));
  if (!folders.some(({ name }) => name === folder)) return [];
  const path = `${bucket}${folder}/`;
  // The service stores a document whose name contains a slash in a subfolder.
  const items = await listItems(service, `${path}?recursive=true&limit=${maxListed}`);
  const names = items.map(({ url }) => decodeURIComponent(String(url).slice(path.length)));
  return names.sort((left, right) => left.localeCompare(right));
}

async function listItems(service: Service, path: string): Promise<readonly JsonObject[]> {
  const answer = await service.json(`v1/metadata/${path}`).catch(ignoreMissing);
  return filterObjects(toObject(answer).items);
}

/** Reads a document. Returns undefined if it does not exist. Throws `ServiceError`. */
export async function readDocument(service: Service, folder: DocumentFolder, name: string): Promise<JsonObject | undefined> {
  const path = `v1/${await getFolderPath(service, folder)}${encodeURIComponent(name)}`;
  const answer = await service.json(path).catch(ignoreMissing);
  return isJsonObject(answer) ? answer : undefined;
}

/**
 * Like `readDocument`, but uses the cache. A document that is older than `maxAgeMs` is still returned, and is loaded again for
 * the next call.
 */
export async function readRecentDocument(
  service: Service,
  folder: DocumentFolder,
  name: string,
): Promise<JsonObject | undefined> {
  const cache = getCache(service);
  // Browsers report each request for a missing document as an error.
  const names = await cache.get(folder, () => listDocuments(service, folder));
  return names.includes(name) ? cache.get(`${folder}/${name}`, () => readDocument(service, folder, name)) : undefined;
}

/** Saves a document. Without `if-none-match` in the headers, replaces one with the same name. Throws `ServiceError`. */
export async function saveDocument(
  service: Service,
  folder: DocumentFolder,
  document: JsonObject & { readonly name: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const path = await getFolderPath(service, folder);
  const { name } = document;
  const body = { id: `${path}${name}`, folderId: path.slice(0, -1), ...document };
  await service.send(`v1/${path}${encodeURIComponent(name)}`, { method: 'PUT', body, headers });
  const cache = getCache(service);
  cache.delete('');
  cache.delete(folder);
  cache.set(`${folder}/${name}`, Promise.resolve(body));
  documentChanges.dispatchEvent(new Event(folder));
}

/** Deletes a document. Throws `ServiceError`. */
export async function deleteDocument(service: Service, folder: DocumentFolder, name: string): Promise<void> {
  await service.send(`v1/${await getFolderPath(service, folder)}${encodeURIComponent(name)}`, { method: 'DELETE' });
  invalidate(service, folder, name);
}

/** Renames a document. Throws `ServiceError`, also if a document already has the new name. */
export async function renameDocument(service: Service, folder: DocumentFolder, name: string, newName: string): Promise<void> {
  const path = await getFolderPath(service, folder);
  const [sourceUrl, destinationUrl] = [name, newName].map((documentName) => `${path}${encodeURIComponent(documentName)}`);
  await service.send('v1/ops/resource/move', { method: 'POST', body: { sourceUrl, destinationUrl } });
  invalidate(service, folder, name);
}

function invalidate(service: Service, folder: DocumentFolder, name: string): void {
  const cache = getCache(service);
  for (const key of ['', folder, `${folder}/${name}`]) cache.delete(key);
  documentChanges.dispatchEvent(new Event(folder));
}

async function getFolderPath(service: Service, folder: DocumentFolder): Promise<string> {
  return `${await getBucketPath(service)}${folder}/`;
}

async function getBucketPath(service: Service): Promise<string> {
  return `prompts/${encodePath(await readBucket(service))}/`;
}

function ignoreMissing(error: unknown): undefined {
  if (toErrorDetails(error).status !== 404) throw error;
}
