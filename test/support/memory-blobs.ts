import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';

/** In-memory blob store that records each read. Tests can block reads. */
export class MemoryBlobs implements BlobStore {
  readonly contents = new Map<string, Uint8Array>();
  readonly reads: string[] = [];
  #gate: PromiseWithResolvers<void> | undefined;

  /** Blocks all reads until `release`. */
  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  release(): void {
    this.#gate?.resolve();
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const piece of bytes) pieces.push(piece);
    this.contents.set(name, Buffer.concat(pieces));
  }

  async read(name: string): Promise<Readable | undefined> {
    await this.#gate?.promise;
    this.reads.push(name);
    const bytes = this.contents.get(name);
    return bytes && Readable.from(bytes.length === 0 ? [] : [Buffer.from(bytes)]);
  }

  async delete(name: string): Promise<void> {
    this.contents.delete(name);
  }

  /** Stores a content as a separate file. */
  file(path: string, content: string | Uint8Array, bucket = 'bucket'): IndexedFile {
    const blob = randomUUID();
    const bytes = Buffer.from(content);
    this.contents.set(blob, bytes);
    const times = { createdAtMs: 1, updatedAtMs: 1 };
    return { bucket, path, contentType: 'text/plain', contentLength: bytes.length, etag: blob, blob, ...times };
  }
}
