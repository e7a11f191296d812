import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BoundedCache } from '#base/cache/bounded-cache.ts';
import { EmbedderPool } from '#base/embedding/local-embedder.ts';
import type { JsonObject } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument } from '#domain/tools/passage-index.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { openPostgres } from '#test/start-postgres.ts';
import { DeploymentEmbedder, type SendEmbeddingsRequest } from '#tools/retrieval/deployment-embedder.ts';
import { DocumentIndexer } from '#tools/retrieval/indexing/document-indexer.ts';
import type { CorpusDocument } from './corpus/corpus.ts';

/** Opens a separate index in a temporary folder or in the PostgreSQL database at this URL. */
export async function openLibrary(postgresUrl: string | undefined, embeddingsUrl?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-retrieval-'));
  const { database, close: closeDatabase } = await (postgresUrl === undefined
    ? openSqlite(join(folder, 'parley.db'))
    : openPostgres(postgresUrl));
  const index = new SqlPassageIndex(database);
  const blobs = await DiskBlobStore.open(folder);
  const local = new EmbedderPool(availableParallelism(), { recent: new BoundedCache({ maxBytes: 0, countBytes: () => 0 }) });
  const embedder =
    embeddingsUrl === undefined ? local : new DeploymentEmbedder('measured', createEmbeddingsClient(embeddingsUrl));
  const reportError = (message: string, error: unknown): void => console.error(message, error);
  const indexer = new DocumentIndexer({ index, blobs, clock: systemClock, owner: 'bench', reportError });

  async function store({ file, bytes }: CorpusDocument): Promise<IndexedFile> {
    const blob = randomUUID();
    const contentLength = bytes.length;
    await blobs.write(blob, yieldOnce(bytes));
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    return { bucket: 'bench', path: file, contentType: 'application/octet-stream', contentLength, etag: blob, blob, ...times };
  }

  /** Waits until all documents have their vectors. */
  async function awaitVectors(documents: readonly IndexedDocument[]): Promise<void> {
    for (const { id, passageCount: passages } of documents) {
      while ((await index.countVectors({ document: id, model: embedder.model })) < passages) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async function close(): Promise<void> {
    await indexer.close();
    await local.close();
    await closeDatabase();
    await rm(folder, { recursive: true });
  }

  return { index, indexer, embedder, dimensions: local.dimensions, store, awaitVectors, close };
}

function createEmbeddingsClient(url: string): SendEmbeddingsRequest {
  return async (request, signal) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/embeddings`, { method: 'POST', headers, body: JSON.stringify(request), signal });
    return (await response.json()) as JsonObject;
  };
}

async function* yieldOnce(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
