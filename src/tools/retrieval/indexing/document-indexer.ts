import { FairQueue } from '#base/isolation/fair-queue.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import { concatVectors, type TextEmbedder } from '#domain/tools/embedder.ts';
import type { IndexedDocument, Passage } from '#domain/tools/passage-index.ts';
import { type DocumentBounds, defaultDocumentBounds } from '../loading/load-document.ts';
import { DocumentReader, type DocumentReaderDeps } from './document-reader.ts';
import { IndexingTask } from './indexing-task.ts';

const sweepIntervalMs = 3_600_000;
const pollIntervalMs = 500;
const requestedSlots = 2;
/** Time before a document is read again after a transient error. */
const retryReadMs = 600_000;
/** Time before a failed embedding model is used again. */
const retryEmbedMs = 60_000;
const maxTasks = 10_000;
const leaseMs = 120_000;
const defaultBatchSize = 64;
/** Maximum number of characters of the title and headings before the text. Longer ones would leave the model no room for the text. */
const maxContextChars = 160;

interface DocumentIndexerDeps extends Omit<DocumentReaderDeps, 'bounds'> {
  readonly bounds?: DocumentBounds;
  /** Called with errors of background work. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** `requested` if a caller waits for the document, `prefetch` if it is read in advance. */
type Priority = 'requested' | 'prefetch';

/** Runs work when a slot is available. */
type RunInTurn = (work: () => Promise<IndexedDocument>) => Promise<IndexedDocument>;

/** A request to create vectors for the passages of a document. */
interface VectorJob {
  readonly task: IndexingTask;
  readonly request: VectorRequest;
}

/**
 * Keeps the passage index up to date with the requested files, in the background. First indexes the words of a file, then its
 * vectors. Create one per process. Reads at most two requested documents of different buckets and one document in advance at
 * the same time, and creates vectors for one document at a time.
 */
export class DocumentIndexer {
  readonly #deps: DocumentIndexerDeps;
  readonly #reader: DocumentReader;
  readonly #vectors: VectorBuilder;
  /** Waiting, active, and completed tasks, by blob. */
  readonly #tasks = new Map<string, IndexingTask>();
  /** Tasks that are done in advance, in order. */
  readonly #prefetchQueue: IndexingTask[] = [];
  /** Bucket of the last document that was read in advance. Other buckets have precedence. */
  #lastPrefetchedBucket: string | undefined;
  readonly #requestQueue = new FairQueue({ slots: requestedSlots });
  readonly #activeWork = new Set<Promise<void>>();
  /** Jobs by document and model. */
  readonly #vectorJobs = new Map<string, VectorJob>();
  /** Paused models, with the time when the pause ends. */
  readonly #pausedUntilMs = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #prefetcher: SerialWorker;
  readonly #embeddingWorker: SerialWorker;

  constructor(deps: DocumentIndexerDeps) {
    this.#deps = deps;
    this.#reader = new DocumentReader({ ...deps, bounds: deps.bounds ?? defaultDocumentBounds });
    this.#vectors = new VectorBuilder(deps);
    this.#prefetcher = new SerialWorker(() => {
      const next = this.#closing.signal.aborted ? undefined : this.#dequeuePrefetch();
      return next && this.#readDocument(next, (work) => work());
    });
    this.#embeddingWorker = new SerialWorker(() => {
      const next = this.#closing.signal.aborted ? undefined : this.#findNextJob();
      return next && this.#embed(...next);
    });
    this.#sweepTimer = setInterval(() => void this.#sweep(), sweepIntervalMs).unref();
  }

  /** Ensures that a file is indexed, and later has vectors of the embedder's model. */
  requestIndexing(file: IndexedFile, embedder: TextEmbedder, priority: Priority = 'requested'): IndexingTask {
    const task = this.#tasks.get(file.blob) ?? this.#createTask(file);
    if (priority === 'requested') this.#prioritize(task);
    const { model } = embedder;
    if (!task.models.has(model) && !this.#isPaused(model)) {
      task.models.add(model);
      task.done.then((document) => this.#requestVectors(task, { document, embedder })).catch(() => undefined);
    }
    this.#prefetcher.start();
    return task;
  }

  /** Returns false during the pause after a failure of the model, and if the node stops. */
  canCreateVectors({ model }: TextEmbedder): boolean {
    return !this.#closing.signal.aborted && !this.#isPaused(model);
  }

  /** Stops all work. Unfinished documents are indexed at the next request. */
  async close(): Promise<void> {
    clearInterval(this.#sweepTimer);
    const { signal } = this.#closing;
    this.#closing.abort(new Error('the node stops'));
    await Promise.all([...this.#activeWork, this.#prefetcher.idle(), this.#embeddingWorker.idle()]);
    for (const task of this.#prefetchQueue.splice(0)) task.fail(signal.reason);
  }

  #createTask(file: IndexedFile): IndexingTask {
    const task = new IndexingTask(file);
    const { signal } = this.#closing;
    if (signal.aborted) task.fail(signal.reason);
    if (task.hasEnded) return task;
    this.#tasks.set(file.blob, task);
    this.#prefetchQueue.push(task);
    for (const [blob, { document }] of this.#tasks) {
      if (this.#tasks.size <= maxTasks) break;
      if (document !== undefined) this.#tasks.delete(blob);
    }
    return task;
  }

  /** Moves a task from the prefetch queue to the request queue. */
  #prioritize(task: IndexingTask): void {
    task.isRequested = true;
    const index = this.#prefetchQueue.indexOf(task);
    if (index < 0) return;
    this.#prefetchQueue.splice(index, 1);
    const runInTurn: RunInTurn = (work) => this.#requestQueue.run(task.file.bucket, work, this.#closing.signal);
    const work = this.#readDocument(task, runInTurn).finally(() => this.#activeWork.delete(work));
    this.#activeWork.add(work);
  }

  #dequeuePrefetch(): IndexingTask | undefined {
    const otherIndex = this.#prefetchQueue.findIndex(({ file }) => file.bucket !== this.#lastPrefetchedBucket);
    const [next] = this.#prefetchQueue.splice(Math.max(otherIndex, 0), 1);
    this.#lastPrefetchedBucket = next?.file.bucket;
    return next;
  }

  #requestVectors(task: IndexingTask, request: VectorRequest): void {
    const { id, failure } = request.document;
    const { model } = request.embedder;
    if (this.#isPaused(model)) task.models.delete(model);
    if (failure !== undefined || this.#isPaused(model)) return;
    const key = `${id} ${model}`;
    if (task.isRequested || !this.#vectorJobs.has(key)) this.#vectorJobs.set(key, { task, request });
    this.#embeddingWorker.start();
  }

  #findNextJob(): [string, VectorJob] | undefined {
    let first: [string, VectorJob] | undefined;
    for (const next of this.#vectorJobs) {
      if (next[1].task.isRequested) return next;
      first ??= next;
    }
    return first;
  }

  async #readDocument(task: IndexingTask, runInTurn: RunInTurn): Promise<void> {
    const { blob } = task.file;
    const { signal } = this.#closing;
    try {
      const document = await runInTurn(() => {
        task.hasStarted = true;
        return this.#reader.readDocument(task.file, signal);
      });
      task.end(document);
      if (document.id === '') setTimeout(() => this.#tasks.delete(blob), retryReadMs).unref();
    } catch (error) {
      this.#tasks.delete(blob);
      task.fail(error);
      if (!signal.aborted) this.#deps.reportError('failed to read a document', error);
    }
  }

  async #embed(key: string, { task, request }: VectorJob): Promise<void> {
    const { signal } = this.#closing;
    try {
      const outcome = await this.#vectors.step(request, signal);
      this.#vectorJobs.delete(key);
      if (outcome !== 'done') this.#vectorJobs.set(key, { task, request });
      if (outcome === 'elsewhere') await this.#deps.clock.sleep(pollIntervalMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#pauseModel(request.embedder);
      this.#deps.reportError(`failed to create vectors with ${request.embedder.model}`, error);
    }
  }

  #isPaused(model: string): boolean {
    return this.#deps.clock.epochMs() < (this.#pausedUntilMs.get(model) ?? 0);
  }

  /** Pauses a model. The next request for a file after the pause requests its vectors again. */
  #pauseModel({ model }: TextEmbedder): void {
    this.#pausedUntilMs.set(model, this.#deps.clock.epochMs() + retryEmbedMs);
    for (const [key, { request }] of this.#vectorJobs) if (request.embedder.model === model) this.#vectorJobs.delete(key);
    for (const task of this.#tasks.values()) task.models.delete(model);
  }

  async #sweep(): Promise<void> {
    await this.#deps.index.sweep().catch((error) => this.#deps.reportError('failed to sweep the passage index', error));
  }
}

/** Runs tasks one after the other in the background. */
class SerialWorker {
  readonly #next: () => Promise<void> | undefined;
  #work: Promise<void> | undefined;

  /** `next` starts the next task, which never rejects, or returns undefined if there is no task. */
  constructor(next: () => Promise<void> | undefined) {
    this.#next = next;
  }

  /** Call it whenever a task may be available. */
  start(): void {
    this.#work ??= this.#run();
  }

  /** Resolves when no task is left. */
  async idle(): Promise<void> {
    await this.#work;
  }

  async #run(): Promise<void> {
    // Starts asynchronously, so that the caller continues first.
    await undefined;
    for (let work = this.#next(); work !== undefined; work = this.#next()) await work;
    this.#work = undefined;
  }
}

/** A document that needs vectors of one model. */
interface VectorRequest {
  readonly document: IndexedDocument;
  readonly embedder: TextEmbedder;
}

type VectorBuilderDeps = Pick<DocumentIndexerDeps, 'index' | 'clock' | 'owner'>;

/** Creates vectors in batches. Completed batches are stored. */
class VectorBuilder {
  readonly #deps: VectorBuilderDeps;

  constructor(deps: VectorBuilderDeps) {
    this.#deps = deps;
  }

  /**
   * Processes one batch. Returns `elsewhere` if another node holds the lease. Throws `StoreError`, the error of the embedder,
   * or the reason of the signal.
   */
  async step({ document, embedder }: VectorRequest, signal: AbortSignal): Promise<'more' | 'done' | 'elsewhere'> {
    const { index, clock, owner } = this.#deps;
    const name = `vectors ${document.id} ${embedder.model}`;
    const nowMs = clock.epochMs();
    if (!(await index.claim({ name, owner, nowMs, untilMs: nowMs + leaseMs }))) return 'elsewhere';
    let hasMore = false;
    try {
      hasMore = await this.#embedBatch({ document, embedder }, signal);
    } finally {
      if (!hasMore) await index.release({ name, owner });
    }
    return hasMore ? 'more' : 'done';
  }

  /**
   * Returns whether more passages remain. Counts the stored vectors after acquiring the lease, because another node may have
   * added some.
   */
  async #embedBatch({ document, embedder }: VectorRequest, signal: AbortSignal): Promise<boolean> {
    const { index } = this.#deps;
    const key = { document: document.id, model: embedder.model };
    const first = await index.countVectors(key);
    if (first >= document.passageCount) return false;
    const { passagesPerBatch = defaultBatchSize } = embedder;
    const passages = await index.readRange(document.id, first, first + passagesPerBatch);
    // The document was deleted meanwhile.
    if (passages.length === 0) return false;
    const texts = passages.map((passage) => toText(document.title, passage));
    await index.addVectors(key, { first, count: passages.length, vectors: concatVectors(await embedder.embed(texts, signal)) });
    return first + passages.length < document.passageCount;
  }
}

/** Returns the text to embed: the title and headings, followed by the passage. */
function toText(title: string, { headings, text }: Passage): string {
  const [outermost] = headings;
  const context = [...(title === '' || title === outermost ? [] : [title]), ...headings].join(' › ');
  return context === '' ? text : `${context.slice(-maxContextChars).toWellFormed()}\n${text}`;
}
