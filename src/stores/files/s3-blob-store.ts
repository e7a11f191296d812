import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { BlobStore, ByteRange } from '#domain/files/blob-store.ts';
import { throwStoreError } from '#domain/store-error.ts';
import type { S3Address } from './s3-address.ts';

/** Size of a part: the minimum that S3 accepts. An upload holds twice this size in memory. S3 accepts at most 10,000 parts. */
const partBytes = 5 * 1024 * 1024;
const maxSockets = 512;
const connectMs = 5_000;
/** Maximum time without data on a connection, in milliseconds. Applies to a stalled server and to a stalled reader. */
const idleMs = 300_000;
const maxAttempts = 3;
const pageSize = 500;

/** Stores contents in a bucket of S3 or a compatible service. `timeoutMs` limits each attempt up to the head of the response. */
export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, region, endpoint, credentials }: S3Address, timeoutMs = 20_000) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = new S3Client({
      region,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(credentials !== undefined && { credentials: toAwsCredentials(credentials) }),
      maxAttempts,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: connectMs,
        requestTimeout: timeoutMs,
        throwOnRequestTimeout: true,
        socketTimeout: idleMs,
        httpAgent: { keepAlive: true, maxSockets },
        httpsAgent: { keepAlive: true, maxSockets },
      },
    });
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const parts = toParts(bytes, partBytes);
    const { value: first = Buffer.alloc(0) } = await parts.next();
    if (first.length === partBytes) await this.#writeParts(name, first, parts);
    else await withStoreError(this.#client.send(new PutObjectCommand({ ...this.#locate(name), Body: first })));
  }

  async read(name: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    const part = range && { Range: `bytes=${range.first}-${range.last}` };
    const response = this.#client.send(new GetObjectCommand({ ...this.#locate(name), ...part })).catch(ignoreMissingKey);
    return (await withStoreError(response))?.Body as Readable | undefined;
  }

  async delete(name: string): Promise<void> {
    await withStoreError(this.#client.send(new DeleteObjectCommand(this.#locate(name))));
  }

  /** Yields names of contents written before `atMs`, in milliseconds since the epoch. Holds one page of names in memory. */
  async *listWrittenBefore(atMs: number): AsyncIterable<string> {
    const listOptions = { Bucket: this.#bucket, Prefix: this.#prefix, Delimiter: '/', MaxKeys: pageSize };
    let ContinuationToken: string | undefined;
    do {
      const command = new ListObjectsV2Command({ ...listOptions, ContinuationToken });
      const page: ListObjectsV2CommandOutput = await withStoreError(this.#client.send(command));
      for (const { Key = '', LastModified } of page.Contents ?? [])
        if (LastModified !== undefined && LastModified.getTime() < atMs) yield Key.slice(this.#prefix.length);
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  close(): void {
    this.#client.destroy();
  }

  async #writeParts(name: string, first: Buffer, otherParts: AsyncIterable<Buffer>): Promise<void> {
    const { UploadId } = await withStoreError(this.#client.send(new CreateMultipartUploadCommand(this.#locate(name))));
    const upload = { ...this.#locate(name), UploadId };
    const done: CompletedPart[] = [];
    const send = async (Body: Buffer): Promise<void> => {
      const PartNumber = done.length + 1;
      const { ETag } = await withStoreError(this.#client.send(new UploadPartCommand({ ...upload, PartNumber, Body })));
      done.push({ PartNumber, ETag });
    };
    try {
      await send(first);
      for await (const part of otherParts) await send(part);
      await withStoreError(
        this.#client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: done } })),
      );
    } catch (error) {
      await this.#client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
      throw error;
    }
  }

  #locate(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + name };
  }
}

function toAwsCredentials({ accessKeyId, secretAccessKey, sessionToken }: NonNullable<S3Address['credentials']>) {
  return {
    accessKeyId,
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken !== undefined && { sessionToken: sessionToken.reveal() }),
  };
}

function ignoreMissingKey(error: unknown): undefined {
  if (!(error instanceof NoSuchKey)) throw error;
}

function withStoreError<Value>(work: Promise<Value>): Promise<Value> {
  return work.catch(throwStoreError('the file store is unavailable or rejected the request'));
}

/** Yields parts of equal size, except for the last. Yields no part if there are no bytes. Holds one part in memory. */
export async function* toParts(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Buffer, undefined> {
  let pieces: Uint8Array[] = [];
  let bufferedBytes = 0;
  for await (let piece of bytes) {
    while (bufferedBytes + piece.length >= partBytes) {
      const missing = partBytes - bufferedBytes;
      yield Buffer.concat([...pieces, piece.subarray(0, missing)], partBytes);
      piece = piece.subarray(missing);
      pieces = [];
      bufferedBytes = 0;
    }
    if (piece.length > 0) pieces.push(piece);
    bufferedBytes += piece.length;
  }
  if (bufferedBytes > 0) yield Buffer.concat(pieces, bufferedBytes);
}
