import type { LoadContext } from '#agent/quick-app/load-tools.ts';
import type { Caches } from '#base/cache/bounded-cache.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { FileIndex } from '#domain/files/file-index.ts';
import type { DocumentsSettings, OnUnusablePart } from '#domain/quick-app/quick-app.ts';
import type { Embedder, TextEmbedder } from '#domain/tools/embedder.ts';
import type { DocumentProgress, PassageIndex } from '#domain/tools/passage-index.ts';
import { type LoadedTools, type MissingToolset, ToolError } from '#domain/tools/tool.ts';
import type { InnerCalls } from '#pipeline/inner-calls.ts';
import { DeploymentEmbedder } from '#tools/retrieval/deployment-embedder.ts';
import { type DocumentSet, openDocumentSet } from '#tools/retrieval/document-set.ts';
import { DocumentIndexer } from '#tools/retrieval/indexing/document-indexer.ts';
import { listProgress } from '#tools/retrieval/indexing-progress.ts';
import { defaultDocumentBounds } from '#tools/retrieval/loading/load-document.ts';
import { PassageSearch } from '#tools/retrieval/passage-search.ts';
import { loadDocumentTools, type QueryDocumentDeps } from '#tools/retrieval/query-document.ts';
import { getDocumentMemoryMb, getProcessMemory, getVectorBytes } from '../process/memory-shares.ts';

/** Index of the passages in stored files. */
export interface PassageStore {
  readonly index: PassageIndex;
  /**
   * Name of this node among the nodes that share the index. If the node does not share the index, the name is the same after a
   * restart.
   */
  readonly owner: string;
}

/** Dependencies of `DocumentTools`. */
export interface DocumentToolsDeps {
  readonly files: { readonly index: FileIndex; readonly blobs: BlobStore } | undefined;
  readonly passages: PassageStore | undefined;
  /** Default embedder for configurations without an embedding model. */
  readonly embedder: Embedder;
  readonly snapshot: () => ConfigSnapshot;
  readonly innerCalls: InnerCalls;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly reportError: (message: string, error: unknown) => void;
  /** Called after each lookup with the documents that an application names but that are not stored. The list is often empty. */
  readonly onMissingDocuments?: ((application: string, references: readonly string[]) => void) | undefined;
  /** Called with the result for each document that a configured application names. */
  readonly onUnusablePart: OnUnusablePart;
}

/** Interval of lookups for missing files of configured applications. */
const retryMs = 30_000;

type FindDeployments = () => Iterable<Deployment> | Promise<Iterable<Deployment>>;

interface IndexDeps extends Pick<QueryDocumentDeps, 'clock' | 'index' | 'indexer' | 'search'> {
  readonly files: FileIndex;
}

/** Document search tools of quick apps. Create one per process. */
export class DocumentTools {
  readonly #deps: DocumentToolsDeps;
  readonly #indexDeps: IndexDeps | undefined;
  #preparing: Promise<void> = Promise.resolve();
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: DocumentToolsDeps) {
    this.#deps = deps;
    const { files, passages, clock, caches, reportError } = deps;
    if (files === undefined || passages === undefined) return;
    const { index, owner } = passages;
    const countBytes = ({ byteLength }: Float32Array): number => byteLength;
    const vectors = caches.create('document_vectors', { maxBytes: getVectorBytes(getProcessMemory()), countBytes });
    const bounds = { ...defaultDocumentBounds, maxMemoryMb: getDocumentMemoryMb(getProcessMemory()) };
    const indexer = new DocumentIndexer({ index, blobs: files.blobs, clock, owner, reportError, bounds });
    this.#indexDeps = { clock, files: files.index, index, indexer, search: new PassageSearch(index, vectors) };
  }

  /** Returns the search tools over these files for an application. Rejects with ToolError or StoreError. */
  async load(
    { files, retrieval }: DocumentsSettings,
    configuration: Configuration,
    { owner, application }: LoadContext,
  ): Promise<LoadedTools> {
    if (this.#indexDeps === undefined) throw new ToolError('No files are stored here.');
    const { maxBytes, ...bounds } = { ...configuration.retrieval, ...retrieval };
    const maxResultBytes = Math.min(configuration.tools.maxResultBytes, maxBytes ?? Number.POSITIVE_INFINITY);
    const deps = { ...this.#indexDeps, embedder: this.#embedder(configuration), maxResultBytes, bounds };
    const loaded = await loadDocumentTools(files, owner, deps);
    this.#reportMissing(application, loaded.missing);
    return loaded;
  }

  /**
   * Indexes the documents of applications in advance, in the background and one application at a time. Errors are reported, and
   * the next use tries again.
   */
  prepare(find: FindDeployments): void {
    const { reportError } = this.#deps;
    this.#preparing = this.#preparing
      .then(() => this.#prepare(find))
      .catch((error) => this.#isClosed || reportError('cannot index documents in advance', error))
      .then(() => undefined);
  }

  /** Returns the indexing progress of an application's documents. Rejects with StoreError. */
  async progress(deployment: Deployment): Promise<readonly DocumentProgress[]> {
    const references = listDocuments(deployment);
    if (this.#indexDeps === undefined || references.length === 0) return [];
    const documents = await openDocumentSet(references, deployment.ownership?.owner ?? null, this.#indexDeps.files);
    const { configuration } = this.#deps.snapshot();
    this.#reportMissing(deployment.id, documents.missing);
    if (documents.missing.length > 0 && deployment.ownership === null) this.#retryLater();
    const embedder = this.#embedder(configuration);
    if (deployment.ownership === null) this.#recordUnreadable(deployment.id, documents, embedder);
    return listProgress(documents, { ...this.#indexDeps, embedder });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    await this.#indexDeps?.indexer.close();
  }

  async #prepare(find: FindDeployments): Promise<void> {
    for (const deployment of await find()) {
      if (this.#isClosed) return;
      await this.progress(deployment);
    }
  }

  /**
   * Indexes the documents in the background, and reports for each of them whether it is readable. Ignores an indexing run that
   * fails because of a store, which is not an error of the document.
   */
  #recordUnreadable(application: string, { files }: DocumentSet, embedder: TextEmbedder): void {
    for (const { reference, file } of files) {
      const reading = this.#indexDeps?.indexer.requestIndexing(file, embedder, 'prefetch');
      reading?.done
        .then(({ failure }) => this.#deps.onUnusablePart({ kind: 'document', application, reference, failure }))
        .catch(() => undefined);
    }
  }

  #reportMissing(application: string, missing: readonly MissingToolset[]): void {
    const references = missing.map(({ name }) => name);
    this.#deps.onMissingDocuments?.(application, references);
  }

  /** Schedules another lookup. A configuration is often loaded before its files, which users upload to the running service. */
  #retryLater(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.prepare(() => this.#deps.snapshot().deployments.values()), retryMs).unref();
  }

  #embedder({ retrieval }: Configuration): TextEmbedder {
    const { embedder, snapshot, innerCalls } = this.#deps;
    const deployment = snapshot().deployments.get(retrieval.embeddingModel ?? '');
    if (deployment === undefined) return embedder;
    // Different models of an upstream create different vectors, so the models are part of the name.
    const models = deployment.upstreams.map(({ model }) => model).sort();
    return new DeploymentEmbedder([deployment.id, ...new Set(models)].join(' '), (request, signal) =>
      innerCalls.embedForService({ deployment, request, signal }),
    );
  }
}

function listDocuments({ quickApp }: Deployment): string[] {
  return (quickApp?.toolsets ?? []).flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : []));
}
