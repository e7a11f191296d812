import { filterObjects, type JsonObject, toNumber, toObject, toText } from '#base/json/json.ts';
import { readBucket } from '../service/deployments.ts';
import { encodePath, type Service, type UploadRequest } from '../service/service.ts';
import { toErrorDetails } from '../service/service-error.ts';

/** A file or folder of the user. */
export interface StoredItem {
  readonly name: string;
  readonly isFolder: boolean;
  /** `files/{bucket}/{path}`, as used in messages. */
  readonly reference: string;
  /** Undefined for a folder. */
  readonly bytes: number | undefined;
  readonly changedAtMs: number | undefined;
  /** MIME type. Undefined for a folder. */
  readonly type: string | undefined;
}

interface FolderPage {
  readonly items: readonly StoredItem[];
  /** Token of the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Returns the names of the folders that contain an item, from the root. */
export function listFolders({ reference }: StoredItem): readonly string[] {
  return reference.split('/').slice(2, -1).map(decodeURIComponent);
}

/** Returns the path of a file without the folders of uploads in chats and applications, whose names are random. */
export function getReadablePath(item: StoredItem): string {
  return [...listFolders(item).filter((folder) => !uuidPattern.test(folder)), item.name].join('/');
}

/** The files of the signed-in user. All methods throw `ServiceError`. */
export class StoredFiles {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Loads one page of a folder, which is '' or a path without a trailing slash. */
  list(folder: string, token: string | undefined, signal?: AbortSignal): Promise<FolderPage> {
    return this.#list(folder, { limit: '100', ...(token !== undefined && { token }) }, signal);
  }

  /** Loads the files of all folders, the last changed first. */
  async listAll(signal: AbortSignal): Promise<readonly StoredItem[]> {
    const items: StoredItem[] = [];
    let token: string | undefined;
    do {
      const page = await this.#list('', { recursive: 'true', limit: '1000', ...(token !== undefined && { token }) }, signal);
      items.push(...page.items);
      token = page.next;
    } while (token !== undefined);
    return items.sort((first, second) => (second.changedAtMs ?? 0) - (first.changedAtMs ?? 0));
  }

  async #list(folder: string, fields: Readonly<Record<string, string>>, signal: AbortSignal | undefined): Promise<FolderPage> {
    const query = new URLSearchParams(fields);
    const path = `v1/metadata/files/${await this.#getPath(folder === '' ? '' : `${folder}/`)}`;
    const answer = await this.#service.json(`${path}?${query}`, signal && { signal }).catch(emptyIfMissing);
    const { items, nextToken } = toObject(answer);
    return { items: filterObjects(items).map(toItem), next: toText(nextToken) || undefined };
  }

  /** Returns whether a file exists. */
  async has(path: string): Promise<boolean> {
    try {
      await this.#service.send(`v1/metadata/files/${await this.#getPath(path)}`);
      return true;
    } catch (error) {
      if (toErrorDetails(error).code === 'file_not_found') return false;
      throw error;
    }
  }

  /** Stores a file and returns its reference. */
  async store(path: string, file: File, request: UploadRequest): Promise<string> {
    const answer = await this.#service.upload(`v1/files/${await this.#getPath(path)}`, file, request);
    return String(toObject(answer).url);
  }

  async download({ reference }: StoredItem): Promise<Blob> {
    return (await this.#service.sendReference(reference)).blob();
  }

  async remove({ reference }: StoredItem): Promise<void> {
    await this.#service.sendReference(reference, { method: 'DELETE' });
  }

  async #getPath(path: string): Promise<string> {
    return `${encodePath(await readBucket(this.#service))}/${encodePath(path)}`;
  }
}

function toItem({ name, nodeType, url, contentLength, contentType, updatedAt }: JsonObject): StoredItem {
  return {
    name: String(name),
    isFolder: nodeType === 'FOLDER',
    reference: String(url),
    bytes: toNumber(contentLength),
    changedAtMs: toNumber(updatedAt),
    type: toText(contentType) || undefined,
  };
}

/** Returns an empty folder if the folder is missing, because a folder exists only while it contains a file. */
function emptyIfMissing(error: unknown): JsonObject {
  if (toErrorDetails(error).code === 'file_not_found') return {};
  throw error;
}
