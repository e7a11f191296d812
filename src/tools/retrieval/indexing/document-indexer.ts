import { FairQueue } from '#base/isolation/fair-queue.ts';
import type { Clock } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { IndexedFile } from '#domain/files/file-index.ts';
import type { IndexedDocument, Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import type { TextEmbedder } from '../deployment-embedder.ts';
import { type DocumentBounds, defaultDocumentBounds } from '../loading/load-document.ts';
import { DocumentReader } from './document-reader.ts';
import { Reading } from './reading.ts';

const sweepEveryMs = 3_600_000;
const elsewhereMs = 500;
const askedAtOnce = 2;
/** How long a document that could not be read for a passing reason is left alone. */
const readAgainMs = 600_000;
/** The same for a model that fails. */
const embedAgainMs = 60_000;
const maxKnown = 10_000;
const leaseMs = 120_000;
const usualAtOnce = 64;
/** Characters of title and headings before the text: more would push it out of what the model reads. */
const longestHead = 160;

interface DocumentIndexerDeps {
  readonly index: PassageIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Of this node, unlike that of any other; if no other node has the index, alike after a restart. */
  readonly owner: string;
  readonly bounds?: DocumentBounds;
  /** Called with faults of the work in the background. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** Whether somebody waits for a document, or it is read before anybody asks. */
type Priority = 'asked' | 'ahead';

/** Does work when its turn has come. */
type Turn = (work: () => Promise<IndexedDocument>) => Promise<IndexedDocument>;

/** Vectors that are to be made for the passages of a reading. */
interface Wanted {
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
  readonly #vectors: VectorMaker;
  /** By blob: what waits, what is under way and what is known. */
  readonly #readings = new Map<string, Reading>();
  readonly #ahead: Reading[] = [];
  /** Of the bucket that was read ahead last, others come first. */
  #lastAhead: string | undefined;
  readonly #asked = new FairQueue({ slots: askedAtOnce });
  readonly #underWay = new Set<Promise<void>>();
  /** By document and model. */
  readonly #wanted = new Map<string, Wanted>();
  /** Models that failed, until when they are left alone. */
  readonly #restUntilMs = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #sweeping: NodeJS.Timeout;
  readonly #readingAhead: SerialWorker;
  readonly #embedding: SerialWorker;

  constructor(deps: DocumentIndexerDeps) {
    this.#deps = deps;
    this.#reader = new DocumentReader({ ...deps, bounds: deps.bounds ?? defaultDocumentBounds });
    this.#vectors = new VectorMaker(deps);
    this.#readingAhead = new SerialWorker(() => {
      const next = this.#closing.signal.aborted ? undefined : this.#nextAhead();
      return next && this.#read(next, (work) => work());
    });
    this.#embedding = new SerialWorker(() => {
      const next = this.#closing.signal.aborted ? undefined : this.#nextWanted();
      return next && this.#embed(...next);
    });
    this.#sweeping = setInterval(() => void this.#sweep(), sweepEveryMs).unref();
  }

  /** Sees to it that a file is in the index, with vectors of this model in the end. */
  want(file: IndexedFile, embedder: TextEmbedder, priority: Priority = 'asked'): Reading {
    const reading = this.#readings.get(file.blob) ?? this.#newReading(file);
    if (priority === 'asked') this.#hurry(reading);
    const { model } = embedder;
    if (!reading.models.has(model) && !this.#isResting(model)) {
      reading.models.add(model);
      reading.done.then((document) => this.#requestVectors(reading, { document, embedder })).catch(() => undefined);
    }
    this.#readingAhead.start();
    return reading;
  }

  /** Whether vectors of this model are made at all now: one that failed is left alone for a while. */
  isMaking({ model }: TextEmbedder): boolean {
    return !this.#closing.signal.aborted && !this.#isResting(model);
  }

  /** Ends what is under way; what was not done is done when somebody asks for it again. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const { signal } = this.#closing;
    this.#closing.abort(new Error('the node stops'));
    await Promise.all([...this.#underWay, this.#readingAhead.idle(), this.#embedding.idle()]);
    for (const reading of this.#ahead.splice(0)) reading.fail(signal.reason);
  }

  #newReading(file: IndexedFile): Reading {
    const reading = new Reading(file);
    const { signal } = this.#closing;
    if (signal.aborted) reading.fail(signal.reason);
    if (reading.isOver) return reading;
    this.#readings.set(file.blob, reading);
    this.#ahead.push(reading);
    for (const [blob, { document }] of this.#readings) {
      if (this.#readings.size <= maxKnown) break;
      if (document !== undefined) this.#readings.delete(blob);
    }
    return reading;
  }

  /** What somebody waits for goes before what is read ahead. */
  #hurry(reading: Reading): void {
    reading.isAsked = true;
    const at = this.#ahead.indexOf(reading);
    if (at < 0) return;
    this.#ahead.splice(at, 1);
    const inTurn: Turn = (work) => this.#asked.run(reading.file.bucket, work, this.#closing.signal);
    const work = this.#read(reading, inTurn).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  #nextAhead(): Reading | undefined {
    const other = this.#ahead.findIndex(({ file }) => file.bucket !== this.#lastAhead);
    const [next] = this.#ahead.splice(Math.max(other, 0), 1);
    this.#lastAhead = next?.file.bucket;
    return next;
  }

  #requestVectors(reading: Reading, request: VectorRequest): void {
    const { id, failure } = request.document;
    const { model } = request.embedder;
    if (this.#isResting(model)) reading.models.delete(model);
    if (failure !== undefined || this.#isResting(model)) return;
    const key = `${id} ${model}`;
    if (reading.isAsked || !this.#wanted.has(key)) this.#wanted.set(key, { reading, request });
    this.#embedding.start();
  }

  #nextWanted(): [string, Wanted] | undefined {
    let first: [string, Wanted] | undefined;
    for (const next of this.#wanted) {
      if (next[1].reading.isAsked) return next;
      first ??= next;
    }
    return first;
  }

  async #read(reading: Reading, inTurn: Turn): Promise<void> {
    const { blob } = reading.file;
    const { signal } = this.#closing;
    try {
      const document = await inTurn(() => this.#readNow(reading));
      reading.end(document);
      if (document.id === '') setTimeout(() => this.#readings.delete(blob), readAgainMs).unref();
    } catch (thrown) {
      this.#readings.delete(blob);
      reading.fail(thrown);
      if (!signal.aborted) this.#deps.noteFault('a document could not be read', thrown);
    }
  }

  #readNow(reading: Reading): Promise<IndexedDocument> {
    reading.begin();
    return this.#reader.read(reading.file, this.#closing.signal);
  }

  async #embed(key: string, { reading, request }: Wanted): Promise<void> {
    const { signal } = this.#closing;
    try {
      const outcome = await this.#vectors.step(request, signal);
      this.#wanted.delete(key);
      if (outcome !== 'done') this.#wanted.set(key, { reading, request });
      if (outcome === 'elsewhere') await this.#deps.clock.sleep(elsewhereMs, signal);
    } catch (thrown) {
      if (signal.aborted) return;
      this.#rest(request.embedder);
      this.#deps.noteFault(`passages got no vectors from ${request.embedder.model}`, thrown);
    }
  }

  #isResting(model: string): boolean {
    return this.#deps.clock.epochMs() < (this.#restUntilMs.get(model) ?? 0);
  }

  /** Leaves a model alone for a while; its vectors are requested again by who asks afterwards. */
  #rest({ model }: TextEmbedder): void {
    this.#restUntilMs.set(model, this.#deps.clock.epochMs() + embedAgainMs);
    for (const [key, { request }] of this.#wanted) if (request.embedder.model === model) this.#wanted.delete(key);
    for (const reading of this.#readings.values()) reading.models.delete(model);
  }

  async #sweep(): Promise<void> {
    await this.#deps.index.sweep().catch((thrown) => this.#deps.noteFault('the passage index could not be swept', thrown));
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
class VectorMaker {
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
    let isMore = false;
    try {
      isMore = await this.#makeSome({ document, embedder }, signal);
    } finally {
      if (!isMore) await index.release({ name, owner });
    }
    return isMore ? 'more' : 'done';
  }

  /** Gives whether there is more to do. What is done is counted under the lease: another node may have done some before it. */
  async #makeSome({ document, embedder }: VectorRequest, signal: AbortSignal): Promise<boolean> {
    const { index } = this.#deps;
    const key = { document: document.id, model: embedder.model };
    const first = await index.countVectors(key);
    if (first >= document.passages) return false;
    const { passagesAtOnce = usualAtOnce } = embedder;
    const passages = await index.read(document.id, first, first + passagesAtOnce);
    const texts = passages.map((passage) => toText(document.title, passage));
    await index.addVectors(key, { first, count: passages.length, vectors: joined(await embedder.embed(texts, signal)) });
    return first + passages.length < document.passages;
  }
}

/** What is searched of a passage: where it stands, and its text. */
function toText(title: string, { headings, text }: Passage): string {
  const [outermost] = headings;
  const head = [...(title === '' || title === outermost ? [] : [title]), ...headings].join(' › ');
  return head === '' ? text : `${head.slice(-longestHead)}\n${text}`;
}

function joined(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const vector of vectors) {
    all.set(vector, at);
    at += vector.length;
  }
  return all;
}
