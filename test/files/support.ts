import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceDeps } from '#app/service/service-deps.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { toS3Address } from '#stores/files/s3-address.ts';
import { S3BlobStore } from '#stores/files/s3-blob-store.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startS3 } from '#test/start-s3.ts';
import { callerKey, type ServiceOptions, startService, type TestService } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';

export const storeKinds = ['disk', 's3'] as const;

export interface TestStore extends AsyncDisposable {
  readonly blobs: BlobStore;
  /** Names of all stored contents, including unfinished uploads. */
  names(): Promise<readonly string[]>;
  /** Makes the store unavailable. */
  breakDown(): Promise<void>;
}

export async function openStore(kind: (typeof storeKinds)[number]): Promise<TestStore> {
  return kind === 'disk' ? openDisk() : openS3();
}

async function openDisk(): Promise<TestStore> {
  const data = await openFolder();
  const remove = () => data[Symbol.asyncDispose]();
  return {
    blobs: await DiskBlobStore.open(join(data.path, 'files')),
    names: () => readdir(join(data.path, 'files')),
    breakDown: remove,
    [Symbol.asyncDispose]: remove,
  };
}

async function openS3(): Promise<TestStore> {
  const s3 = await startS3();
  const blobs = new S3BlobStore(toS3Address(s3.filesUrl, {}));
  return {
    blobs,
    async names() {
      const { objects, uploads } = await s3.names();
      return [...objects, ...uploads];
    },
    breakDown: () => s3.stop(),
    async [Symbol.asyncDispose]() {
      blobs.close();
      await s3[Symbol.asyncDispose]();
    },
  };
}

type FileParts = NonNullable<ServiceDeps['files']>;

export interface FileService extends AsyncDisposable {
  readonly service: TestService;
  readonly index: MemoryFileIndex;
  readonly url: string;
  /** `/v1/files/{bucket}` for the bucket of `callerKey`. */
  readonly base: string;
  readonly bucket: string;
  readonly errors: readonly string[];
  put(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  send(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  /** Reads the metadata of a path below the bucket. The path may include a query. */
  metadata(path: string): Promise<TestResponse>;
}

export interface StoredFileService extends FileService {
  readonly store: TestStore;
}

/** Starts a service that stores files, with its own store on disk. */
export async function startFilesOnDisk(
  files: Partial<Omit<FileParts, 'blobs'>> = {},
  configuration: object = {},
): Promise<StoredFileService> {
  const store = await openStore('disk');
  const service = await startFiles({ ...files, blobs: store.blobs }, configuration);
  return {
    ...service,
    store,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Starts a service that stores files. Paths are encoded and relative to the bucket of `callerKey`. */
export async function startFiles(
  files: Pick<FileParts, 'blobs'> & Partial<FileParts>,
  configuration: object = {},
  otherOptions: Pick<ServiceOptions, 'applications' | 'recordAudit' | 'perRequestKeys'> = {},
): Promise<FileService> {
  const index = new MemoryFileIndex();
  const errors: string[] = [];
  const options: ServiceOptions & Pick<ServiceDeps, 'files'> = {
    ...otherOptions,
    files: { index, ...files },
    reportError: (message) => errors.push(message),
  };
  const service = await startService({ models: { m: { upstreams: [{ protocol: 'demo' }] } }, ...configuration }, options);
  const key = { 'api-key': callerKey };
  const { json } = await service.sendRequest({ method: 'GET', path: '/v1/bucket', headers: key });
  const { bucket } = json as { bucket: string };
  const base = `/v1/files/${bucket}`;
  const send: FileService['send'] = (method, path, headers) =>
    service.sendRequest({ method, path: `${base}/${path}`, headers: { ...key, ...headers } });
  return {
    service,
    index,
    url: service.url,
    base,
    bucket,
    errors,
    put: (path, body, headers) =>
      service.sendRequest({ method: 'PUT', path: `${base}/${path}`, headers: { ...key, ...headers }, body }),
    get: (path, headers) => send('GET', path, headers),
    send,
    metadata: (path) => service.sendRequest({ method: 'GET', path: `/v1/metadata/files/${bucket}/${path}`, headers: key }),
    [Symbol.asyncDispose]: service.close,
  };
}
