import type { ResponseAttachment } from '#contract/chat/chunk.ts';
import { toReference } from '#domain/files/resource-location.ts';
import type { OpenDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import type { Reply } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type FreshDatabase, freshSqlite } from '#test/sql-engines.ts';
import type { ServiceOptions } from '#test/start-service.ts';
import { computeDocumentId } from '#tools/retrieval/indexing/document-reader.ts';
import { calls, getMessage, type Rig, says, startRig } from '../quick-apps/support.ts';
import { wordEmbedder } from './word-embedder.ts';

/** Stored files and their passage index, which outlive a service. */
export class TestFiles implements AsyncDisposable {
  readonly files = new MemoryFileIndex();
  readonly blobs = new MemoryBlobs();
  readonly index: SqlPassageIndex;
  readonly #fresh: FreshDatabase;
  readonly #database: OpenDatabase;

  private constructor(fresh: FreshDatabase, database: OpenDatabase) {
    this.#fresh = fresh;
    this.#database = database;
    this.index = new SqlPassageIndex(database.database);
  }

  static async open(): Promise<TestFiles> {
    const fresh = await freshSqlite();
    return new TestFiles(fresh, await fresh.open());
  }

  /** Stores a file and returns its reference. */
  async put(path: string, content: string | Uint8Array, bucket = 'bucket'): Promise<string> {
    const file = this.blobs.file(path, content, bucket);
    await this.files.put({ ...file, contentType: 'text/plain' }, undefined, Number.MAX_SAFE_INTEGER);
    return toReference({ bucket, path });
  }

  /** Returns the ID of the indexed document with this content. */
  async findDocument(blob: string): Promise<string> {
    return computeDocumentId((await this.index.findContent(blob)) ?? '');
  }

  get options(): ServiceOptions {
    return {
      files: { index: this.files, blobs: this.blobs },
      passages: { index: this.index, owner: 'node' },
      embedder: wordEmbedder,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
    await this.#fresh[Symbol.asyncDispose]();
  }
}

interface StartOptions {
  readonly replies?: readonly Reply[];
  /** Additional settings of the application. */
  readonly app?: object;
  readonly options?: ServiceOptions;
  readonly configuration?: Record<string, unknown>;
}

/** Starts a quick app over these files. By default, its model calls `query_document` with `args` and then answers "Done.". */
export function startWith(
  testFiles: TestFiles,
  references: readonly string[],
  args: object,
  overrides: StartOptions = {},
): Promise<Rig> {
  const { replies = [calls(['query_document', args]), says('Done.')], app = {}, options = {}, configuration = {} } = overrides;
  return startRig({
    app: { document_relative_url: [...references], ...app },
    replies,
    options: { ...testFiles.options, ...options },
    configuration,
  });
}

export function getAttachments(response: TestResponse): readonly ResponseAttachment[] {
  return getMessage(response).custom_content?.attachments ?? [];
}
