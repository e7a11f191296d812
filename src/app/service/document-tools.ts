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
import { type LoadedTools, type MissingToolset, ToolError } from '#domain/tools/tool.ts';
import type { InnerCalls } from '#pipeline/inner-calls.ts';
import { DeploymentEmbedder, type TextEmbedder } from '#tools/retrieval/deployment-embedder.ts';
import { type DocumentSet, openDocumentSet } from '#tools/retrieval/document-set.ts';
import { loadDocumentTools } from '#tools/retrieval/document-source.ts';
import { DocumentIndexer } from '#tools/retrieval/indexing/document-indexer.ts';
import { defaultDocumentBounds } from '#tools/retrieval/loading/load-document.ts';
import { readProgress } from '#tools/retrieval/reading-progress.ts';
import { PassageSearch } from '#tools/retrieval/searching/passage-search.ts';

import { getDocumentMemoryMb, getProcessMemory, getVectorBytes } from '../process/memory-shares.ts';

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
  readonly reportError: (message: string, error: unknown) => void;
  /** Called with what an application names that is not stored, whenever that was looked up; often nothing. */
  readonly noteMissing?: ((application: string, references: readonly string[]) => void) | undefined;
  /** Called with the result for each document that a configured application names. */
  readonly noteUnusablePart: NoteUnusablePart;
}

/** How often files are looked for that an application of the configuration names and that are not stored yet. */
const retryMs = 30_000;

type FindDeployments = () => Iterable<Deployment> | Promise<Iterable<Deployment>>;

interface IndexParts {
  readonly clock: Clock;
  readonly files: FileIndex;
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly search: PassageSearch;
}

/** Lets quick apps look things up in stored files. One for the process. */
export class DocumentTools {
  readonly #parts: DocumentToolsDeps;
  readonly #indexParts: IndexParts | undefined;
  #preparing: Promise<void> = Promise.resolve();
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: DocumentToolsDeps) {
    this.#parts = parts;
    const { files, passages, clock, caches, reportError } = parts;
    if (files === undefined || passages === undefined) return;
    const { index, owner } = passages;
    const countBytes = ({ byteLength }: Float32Array): number => byteLength;
    const vectors = caches.open('document_vectors', { maxBytes: getVectorBytes(getProcessMemory()), countBytes });
    const bounds = { ...defaultDocumentBounds, maxMemoryMb: getDocumentMemoryMb(getProcessMemory()) };
    const indexer = new DocumentIndexer({ index, blobs: files.blobs, clock, owner, reportError, bounds });
    this.#indexParts = { clock, files: files.index, index, indexer, search: new PassageSearch(index, vectors) };
  }

  /** The tools over these files, for an application under a configuration. Rejects with ToolFault, StoreFault. */
  async load(
    { files, retrieval }: DocumentsSettings,
    configuration: Configuration,
    { owner, application }: LoadContext,
  ): Promise<LoadedTools> {
    if (this.#indexParts === undefined) throw new ToolError('No files are stored here.');
    const { maxBytes, ...bounds } = { ...configuration.retrieval, ...retrieval };
    const maxResultBytes = Math.min(configuration.tools.maxResultBytes, maxBytes ?? Number.POSITIVE_INFINITY);
    const deps = { ...this.#indexParts, embedder: this.#embedder(configuration), maxResultBytes, bounds };
    const loaded = await loadDocumentTools(files, owner, deps);
    this.#noteMissing(application, loaded.missing);
    return loaded;
  }

  /**
   * Has the documents of applications read before anybody asks for them, one application after the other. Nobody waits for it;
   * what fails is noted, and tried again when somebody asks.
   */
  prepare(find: FindDeployments): void {
    const { reportError } = this.#parts;
    this.#preparing = this.#preparing
      .then(() => this.#prepare(find))
      .catch((error) => this.#isClosed || reportError('documents could not be read ahead', error))
      .then(() => undefined);
  }

  /** How far the documents of an application are. Rejects with StoreFault. */
  async progress(deployment: Deployment): Promise<readonly DocumentProgress[]> {
    const references = listDocuments(deployment);
    if (this.#indexParts === undefined || references.length === 0) return [];
    const documents = await openDocumentSet(references, deployment.ownership?.owner ?? null, this.#indexParts.files);
    const { configuration } = this.#parts.snapshot();
    this.#noteMissing(deployment.id, documents.missing);
    if (documents.missing.length > 0 && deployment.ownership === null) this.#retryLater();
    const embedder = this.#embedder(configuration);
    if (deployment.ownership === null) this.#noteUnreadable(deployment.id, documents, embedder);
    return readProgress(documents, { ...this.#indexParts, embedder });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    await this.#indexParts?.indexer.close();
  }

  async #prepare(find: FindDeployments): Promise<void> {
    for (const deployment of await find()) {
      if (this.#isClosed) return;
      await this.progress(deployment);
    }
  }

  /** Waits for the readings in the background. One that the stores interrupted says nothing about the document. */
  #noteUnreadable(application: string, { files }: DocumentSet, embedder: TextEmbedder): void {
    for (const { reference, file } of files) {
      const reading = this.#indexParts?.indexer.requestIndexing(file, embedder, 'ahead');
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
  #retryLater(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.prepare(() => this.#parts.snapshot().deployments.values()), retryMs).unref();
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

function listDocuments({ quickApp }: Deployment): string[] {
  return (quickApp?.toolsets ?? []).flatMap((toolset) => (toolset.kind === 'documents' ? toolset.files : []));
}
