import { FairQueue } from '#base/isolation/fair-queue.ts';
import type { Clock } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument, Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import type { TextEmbedder } from '../deployment-embedder.ts';
import { type DocumentBounds, defaultDocumentBounds } from '../loading/load-document.ts';
import { DocumentReader } from './document-reader.ts';
import { Reading } from './reading.ts';

const sweepIntervalMs = 3_600_000;
const pollMs = 500;
const requestedSlots = 2;
/** How long a document that could not be read for a passing reason is left alone. */
const retryReadMs = 600_000;
/** The same for a model that fails. */
const retryEmbedMs = 60_000;
const maxReadings = 10_000;
const leaseMs = 120_000;
const defaultBatchSize = 64;
/** Characters of title and headings before the text: more would push it out of what the model reads. */
const maxHeadChars = 160;

interface DocumentIndexerDeps {
  readonly index: PassageIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Of this node, unlike that of any other; if no other node has the index, alike after a restart. */
  readonly owner: string;
  readonly bounds?: DocumentBounds;
  /** Called with faults of the work in the background. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** Whether somebody waits for a document, or it is read before anybody asks. */
type Priority = 'asked' | 'ahead';

/** Does work when its turn has come. */
type RunInTurn = (work: () => Promise<IndexedDocument>) => Promise<IndexedDocument>;

/** Vectors that are to be made for the passages of a reading. */
interface VectorJob {
  readonly reading: Reading;
  readonly request: VectorRequest;
}

/**
 * Keeps the passage index up with the files that are asked for, in the background: first their words, so that they can be
 * searched, then their vectors. One for the process. It reads two documents at a time that somebody waits for, of two
 * buckets, and one ahead, and makes vectors for one.
 */
export class DocumentIndexer {
  readonly #deps: DocumentIndexerDeps;
  readonly #reader: DocumentReader;
  readonly #vectors: VectorBuilder;
  /** By blob: what waits, what is under way and what is known. */
  readonly #readings = new Map<string, Reading>();
  readonly #ahead: Reading[] = [];
  /** Of the bucket that was read ahead last, others come first. */
  #lastAhead: string | undefined;
  readonly #requestQueue = new FairQueue({ slots: requestedSlots });
  readonly #activeWork = new Set<Promise<void>>();
  /** By document and model. */
  readonly #vectorJobs = new Map<string, VectorJob>();
  /** Models that failed, until when they are left alone. */
  readonly #pausedUntilMs = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #readingAhead: SerialWorker;
  readonly #embedding: SerialWorker;

  constructor(deps: DocumentIndexerDeps) {
    this.#deps = deps;
    this.#reader = new DocumentReader({ ...deps, bounds: deps.bounds ?? defaultDocumentBounds });
    this.#vectors = new VectorBuilder(deps);
    this.#readingAhead = new SerialWorker(() => {
      const next = this.#closing.signal.aborted ? undefined : this.#dequeueAhead();
      return next && this.#readDocument(next, (work) => work());
    });
    this.#embedding = new SerialWorker(() => {
      const next = this.#closing.signal.aborted ? undefined : this.#findNextJob();
      return next && this.#embed(...next);
    });
    this.#sweepTimer = setInterval(() => void this.#sweep(), sweepIntervalMs).unref();
  }

  /** Sees to it that a file is in the index, with vectors of this model in the end. */
  requestIndexing(file: IndexedFile, embedder: TextEmbedder, priority: Priority = 'asked'): Reading {
    const reading = this.#readings.get(file.blob) ?? this.#createReading(file);
    if (priority === 'asked') this.#prioritize(reading);
    const { model } = embedder;
    if (!reading.models.has(model) && !this.#isPaused(model)) {
      reading.models.add(model);
      reading.done.then((document) => this.#requestVectors(reading, { document, embedder })).catch(() => undefined);
    }
    this.#readingAhead.start();
    return reading;
  }

  /** Whether vectors of this model are made at all now: one that failed is left alone for a while. */
  isMaking({ model }: TextEmbedder): boolean {
    return !this.#closing.signal.aborted && !this.#isPaused(model);
  }

  /** Ends what is under way; what was not done is done when somebody asks for it again. */
  async close(): Promise<void> {
    clearInterval(this.#sweepTimer);
    const { signal } = this.#closing;
    this.#closing.abort(new Error('the node stops'));
    await Promise.all([...this.#activeWork, this.#readingAhead.idle(), this.#embedding.idle()]);
    for (const reading of this.#ahead.splice(0)) reading.fail(signal.reason);
  }

  #createReading(file: IndexedFile): Reading {
    const reading = new Reading(file);
    const { signal } = this.#closing;
    if (signal.aborted) reading.fail(signal.reason);
    if (reading.isOver) return reading;
    this.#readings.set(file.blob, reading);
    this.#ahead.push(reading);
    for (const [blob, { document }] of this.#readings) {
      if (this.#readings.size <= maxReadings) break;
      if (document !== undefined) this.#readings.delete(blob);
    }
    return reading;
  }

  /** What somebody waits for goes before what is read ahead. */
  #prioritize(reading: Reading): void {
    reading.isRequested = true;
    const index = this.#ahead.indexOf(reading);
    if (index < 0) return;
    this.#ahead.splice(index, 1);
    const runInTurn: RunInTurn = (work) => this.#requestQueue.run(reading.file.bucket, work, this.#closing.signal);
    const work = this.#readDocument(reading, runInTurn).finally(() => this.#activeWork.delete(work));
    this.#activeWork.add(work);
  }

  #dequeueAhead(): Reading | undefined {
    const otherIndex = this.#ahead.findIndex(({ file }) => file.bucket !== this.#lastAhead);
    const [next] = this.#ahead.splice(Math.max(otherIndex, 0), 1);
    this.#lastAhead = next?.file.bucket;
    return next;
  }

  #requestVectors(reading: Reading, request: VectorRequest): void {
    const { id, failure } = request.document;
    const { model } = request.embedder;
    if (this.#isPaused(model)) reading.models.delete(model);
    if (failure !== undefined || this.#isPaused(model)) return;
    const key = `${id} ${model}`;
    if (reading.isRequested || !this.#vectorJobs.has(key)) this.#vectorJobs.set(key, { reading, request });
    this.#embedding.start();
  }

  #findNextJob(): [string, VectorJob] | undefined {
    let first: [string, VectorJob] | undefined;
    for (const next of this.#vectorJobs) {
      if (next[1].reading.isRequested) return next;
      first ??= next;
    }
    return first;
  }

  async #readDocument(reading: Reading, runInTurn: RunInTurn): Promise<void> {
    const { blob } = reading.file;
    const { signal } = this.#closing;
    try {
      const document = await runInTurn(() => this.#readNow(reading));
      reading.end(document);
      if (document.id === '') setTimeout(() => this.#readings.delete(blob), retryReadMs).unref();
    } catch (error) {
      this.#readings.delete(blob);
      reading.fail(error);
      if (!signal.aborted) this.#deps.reportError('a document could not be read', error);
    }
  }

  #readNow(reading: Reading): Promise<IndexedDocument> {
    reading.start();
    return this.#reader.read(reading.file, this.#closing.signal);
  }

  async #embed(key: string, { reading, request }: VectorJob): Promise<void> {
    const { signal } = this.#closing;
    try {
      const outcome = await this.#vectors.step(request, signal);
      this.#vectorJobs.delete(key);
      if (outcome !== 'done') this.#vectorJobs.set(key, { reading, request });
      if (outcome === 'elsewhere') await this.#deps.clock.sleep(pollMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#pauseModel(request.embedder);
      this.#deps.reportError(`passages got no vectors from ${request.embedder.model}`, error);
    }
  }

  #isPaused(model: string): boolean {
    return this.#deps.clock.epochMs() < (this.#pausedUntilMs.get(model) ?? 0);
  }

  /** Leaves a model alone for a while; its vectors are requested again by who asks afterwards. */
  #pauseModel({ model }: TextEmbedder): void {
    this.#pausedUntilMs.set(model, this.#deps.clock.epochMs() + retryEmbedMs);
    for (const [key, { request }] of this.#vectorJobs) if (request.embedder.model === model) this.#vectorJobs.delete(key);
    for (const reading of this.#readings.values()) reading.models.delete(model);
  }

  async #sweep(): Promise<void> {
    await this.#deps.index.sweep().catch((error) => this.#deps.reportError('the passage index could not be swept', error));
  }
}

/** Does one thing after the other, in the background, for as long as there is something to do. */
class SerialWorker {
  readonly #next: () => Promise<void> | undefined;
  #work: Promise<void> | undefined;

  /** `next` begins the next thing, which never rejects; undefined if there is none. */
  constructor(next: () => Promise<void> | undefined) {
    this.#next = next;
  }

  /** To be called whenever there may be something to do. */
  start(): void {
    this.#work ??= this.#run();
  }

  /** Resolves when there is nothing more to do. */
  async idle(): Promise<void> {
    await this.#work;
  }

  async #run(): Promise<void> {
    // What asks for the first thing goes on before it begins.
    await undefined;
    for (let work = this.#next(); work !== undefined; work = this.#next()) await work;
    this.#work = undefined;
  }
}

/** A document whose passages shall have vectors of one model. */
interface VectorRequest {
  readonly document: IndexedDocument;
  readonly embedder: TextEmbedder;
}

interface VectorMakerDeps {
  readonly index: PassageIndex;
  readonly clock: Clock;
  readonly owner: string;
}

/** Gives passages their vectors, some at a time: what is done stays done. */
class VectorBuilder {
  readonly #deps: VectorMakerDeps;

  constructor(deps: VectorMakerDeps) {
    this.#deps = deps;
  }

  /** One step. `elsewhere` if another node is doing it. Throws StoreFault, what the embedder throws, the signal's reason. */
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

  /** Gives whether there is more to do. What is done is counted under the lease: another node may have done some before it. */
  async #embedBatch({ document, embedder }: VectorRequest, signal: AbortSignal): Promise<boolean> {
    const { index } = this.#deps;
    const key = { document: document.id, model: embedder.model };
    const first = await index.countVectors(key);
    if (first >= document.passages) return false;
    const { passagesAtOnce = defaultBatchSize } = embedder;
    const passages = await index.read(document.id, first, first + passagesAtOnce);
    const texts = passages.map((passage) => toText(document.title, passage));
    await index.addVectors(key, { first, count: passages.length, vectors: concatVectors(await embedder.embed(texts, signal)) });
    return first + passages.length < document.passages;
  }
}

/** What is searched of a passage: where it stands, and its text. */
function toText(title: string, { headings, text }: Passage): string {
  const [outermost] = headings;
  const head = [...(title === '' || title === outermost ? [] : [title]), ...headings].join(' › ');
  return head === '' ? text : `${head.slice(-maxHeadChars)}\n${text}`;
}

function concatVectors(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const vector of vectors) {
    all.set(vector, offset);
    offset += vector.length;
  }
  return all;
}
