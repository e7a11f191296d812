import type { LoadContext } from '#agent/quick-app/load-tools.ts';
import type { Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { DocumentsSettings } from '#domain/quick-app/quick-app.ts';
import type { NoteUnusablePart } from '#domain/quick-app/unusable-part.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { DocumentProgress, PassageIndex } from '#domain/tools/passage-index.ts';
import { type LoadedTools, type MissingToolset, ToolFault } from '#domain/tools/tool.ts';
import type { InnerCalls } from '#pipeline/inner-calls.ts';
import { DeploymentEmbedder, type TextEmbedder } from '#tools/retrieval/deployment-embedder.ts';
import { loadDocumentTools } from '#tools/retrieval/document-source.ts';
import { DocumentIndexer } from '#tools/retrieval/indexing/document-indexer.ts';
import { defaultDocumentBounds } from '#tools/retrieval/loading/load-document.ts';
import { readProgress } from '#tools/retrieval/reading-progress.ts';
import { PassageSearch } from '#tools/retrieval/searching/passage-search.ts';
import { openShelf, type Shelf } from '#tools/retrieval/shelf.ts';

import { documentMemoryMb, memoryOfProcess, vectorBytes } from '../process/memory-shares.ts';

/** The index of what stands in stored files. */
export interface PassageStore {
  readonly index: PassageIndex;
  /** Names this node among those that have the index; where it has it alone, alike after a restart. */
  readonly owner: string;
}

export interface DocumentToolsDeps {
  readonly files: { readonly index: FileIndex; readonly blobs: BlobStore } | undefined;
  readonly passages: PassageStore | undefined;
  /** For configurations that name no embedding model. */
  readonly embedder: Embedder;
  readonly snapshot: () => ConfigSnapshot;
  readonly innerCalls: InnerCalls;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly noteFault: (message: string, thrown: unknown) => void;
  /** Called with what an application names that is not stored, whenever that was looked up; often nothing. */
  readonly noteMissing?: ((application: string, references: readonly string[]) => void) | undefined;
  /** Called with the result for each document that a configured application names. */
  readonly noteUnusablePart: NoteUnusablePart;
}

/** How often files are looked for that an application of the configuration names and that are not stored yet. */
const lookAgainMs = 30_000;

type FindDeployments = () => Iterable<Deployment> | Promise<Iterable<Deployment>>;

interface Shelves {
  readonly clock: Clock;
  readonly files: FileIndex;
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly search: PassageSearch;
}

/** Lets quick apps look things up in stored files. One for the process. */
export class DocumentTools {
  readonly #parts: DocumentToolsDeps;
  readonly #shelves: Shelves | undefined;
  #preparing: Promise<void> = Promise.resolve();
  #lookingAgain: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: DocumentToolsDeps) {
    this.#parts = parts;
    const { files, passages, clock, caches, noteFault } = parts;
    if (files === undefined || passages === undefined) return;
    const { index, owner } = passages;
    const bytesOf = ({ byteLength }: Float32Array): number => byteLength;
    const vectors = caches.open('document_vectors', { maxBytes: vectorBytes(memoryOfProcess()), bytesOf });
    const bounds = { ...defaultDocumentBounds, maxMemoryMb: documentMemoryMb(memoryOfProcess()) };
    const indexer = new DocumentIndexer({ index, blobs: files.blobs, clock, owner, noteFault, bounds });
    this.#shelves = { clock, files: files.index, index, indexer, search: new PassageSearch(index, vectors) };
  }

  /** The tools over these files, for an application under a configuration. Rejects with ToolFault, StoreFault. */
  async load(
    { files, retrieval }: DocumentsSettings,
    configuration: Configuration,
    { owner, application }: LoadContext,
  ): Promise<LoadedTools> {
    if (this.#shelves === undefined) throw new ToolFault('No files are stored here.');
    const { maxBytes, ...bounds } = { ...configuration.retrieval, ...retrieval };
    const maxResultBytes = Math.min(configuration.tools.maxResultBytes, maxBytes ?? Number.POSITIVE_INFINITY);
    const deps = { ...this.#shelves, embedder: this.#embedder(configuration), maxResultBytes, bounds };
    const loaded = await loadDocumentTools(files, owner, deps);
    this.#noteMissing(application, loaded.missing);
    return loaded;
  }

  /**
   * Has the documents of applications read before anybody asks for them, one application after the other. Nobody waits for it;
   * what fails is noted, and tried again when somebody asks.
   */
  prepare(find: FindDeployments): void {
    const { noteFault } = this.#parts;
    this.#preparing = this.#preparing
      .then(() => this.#prepare(find))
      .catch((thrown) => this.#isClosed || noteFault('documents could not be read ahead', thrown))
      .then(() => undefined);
  }

  /** How far the documents of an application are. Rejects with StoreFault. */
  async progress(deployment: Deployment): Promise<readonly DocumentProgress[]> {
    const references = documentsOf(deployment);
    if (this.#shelves === undefined || references.length === 0) return [];
    const shelf = await openShelf(references, deployment.ownership?.owner ?? null, this.#shelves.files);
    const { configuration } = this.#parts.snapshot();
    this.#noteMissing(deployment.id, shelf.missing);
    if (shelf.missing.length > 0 && deployment.ownership === null) this.#lookAgain();
    const embedder = this.#embedder(configuration);
    if (deployment.ownership === null) this.#noteUnreadable(deployment.id, shelf, embedder);
    return readProgress(shelf, { ...this.#shelves, embedder });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#lookingAgain);
    await this.#shelves?.indexer.close();
  }

  async #prepare(find: FindDeployments): Promise<void> {
    for (const deployment of await find()) {
      if (this.#isClosed) return;
      await this.progress(deployment);
    }
  }

  /** Waits for the readings in the background. One that the stores interrupted says nothing about the document. */
  #noteUnreadable(application: string, { files }: Shelf, embedder: TextEmbedder): void {
    for (const { reference, file } of files) {
      const reading = this.#shelves?.indexer.want(file, embedder, 'ahead');
      reading?.done
        .then(({ failure }) => this.#parts.noteUnusablePart({ kind: 'document', application, reference, failure }))
        .catch(() => undefined);
    }
  }

  #noteMissing(application: string, missing: readonly MissingToolset[]): void {
    this.#parts.noteMissing?.(
      application,
      missing.map(({ name }) => name),
    );
  }

  /** A configuration comes before the files that it names: they are uploaded to the service that it starts. */
  #lookAgain(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#lookingAgain);
    this.#lookingAgain = setTimeout(() => this.prepare(() => this.#parts.snapshot().deployments.values()), lookAgainMs).unref();
  }

  #embedder({ retrieval }: Configuration): TextEmbedder {
    const { embedder, snapshot, innerCalls } = this.#parts;
    const deployment = snapshot().deployments.get(retrieval.embeddingModel ?? '');
    if (deployment === undefined) return embedder;
    // Another model of an upstream makes other vectors.
    const models = deployment.upstreams.map(({ model }) => model).sort();
    return new DeploymentEmbedder([deployment.id, ...new Set(models)].join(' '), (request, signal) =>
      innerCalls.embedForService({ deployment, request, signal }),
    );
  }
}

function documentsOf({ quickApp }: Deployment): string[] {
  return (quickApp?.toolsets ?? []).flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : []));
}
