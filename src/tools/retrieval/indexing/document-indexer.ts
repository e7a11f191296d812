import type { Clock } from '#base/clock.ts';
import type { BlobStore } from '#domain/blob-store.ts';
import type { IndexedFile } from '#domain/file-index.ts';
import type { PassageIndex } from '#domain/passage-index.ts';
import { type DocumentBounds, defaultDocumentBounds } from '../loading/load-document.ts';
import type { TextEmbedder } from '../text-embedder.ts';
import { DocumentReader } from './document-reader.ts';
import { Reading } from './reading.ts';
import { VectorMaker, type Wish } from './vector-maker.ts';

const sweepEveryMs = 3_600_000;
const elsewhereMs = 500;
/** How long a document that could not be read for a passing reason is left alone. */
const readAgainMs = 600_000;
/** The same for a model that fails. */
const embedAgainMs = 60_000;
const maxKnown = 10_000;

export interface DocumentIndexerParts {
  readonly index: PassageIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Of this node, unlike that of any other; where no other node has the index, alike after a restart. */
  readonly owner: string;
  readonly bounds?: DocumentBounds;
  /** Hears of what goes wrong in the background. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/**
 * Keeps the passage index up with the files that are asked for, in the background, one thing at a time: first their words, so
 * that they can be searched, then their vectors. One for the process.
 */
export class DocumentIndexer {
  readonly #parts: DocumentIndexerParts;
  readonly #reader: DocumentReader;
  readonly #vectors: VectorMaker;
  /** By blob: what waits, what is under way and what is known. */
  readonly #readings = new Map<string, Reading>();
  readonly #toRead: Reading[] = [];
  /** By document and model. */
  readonly #wishes = new Map<string, Wish>();
  /** Models that failed, until when they are left alone. */
  readonly #restUntilMs = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #sweeping: NodeJS.Timeout;
  #work: Promise<void> | undefined;

  constructor(parts: DocumentIndexerParts) {
    this.#parts = parts;
    this.#reader = new DocumentReader({ ...parts, bounds: parts.bounds ?? defaultDocumentBounds });
    this.#vectors = new VectorMaker(parts);
    this.#sweeping = setInterval(() => void this.#sweep(), sweepEveryMs).unref();
  }

  /** Sees to it that a file is in the index, with vectors of this model in the end. */
  want(file: IndexedFile, embedder: TextEmbedder): Reading {
    const reading = this.#readings.get(file.blob) ?? this.#newReading(file);
    const { model } = embedder;
    if (!reading.models.has(model) && this.#parts.clock.epochMs() >= (this.#restUntilMs.get(model) ?? 0)) {
      reading.models.add(model);
      reading.done.then((document) => this.#wish({ document, embedder })).catch(() => undefined);
    }
    this.#start();
    return reading;
  }

  /** Ends what is under way; what was not done is done when somebody asks for it again. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#closing.abort(new Error('the node stops'));
    await this.#work;
  }

  #newReading(file: IndexedFile): Reading {
    const reading = new Reading(file);
    this.#readings.set(file.blob, reading);
    this.#toRead.push(reading);
    for (const [blob, { document }] of this.#readings) {
      if (this.#readings.size <= maxKnown) break;
      if (document !== undefined) this.#readings.delete(blob);
    }
    return reading;
  }

  #wish(wish: Wish): void {
    const { document, embedder } = wish;
    if (document.failure !== undefined) return;
    const key = `${document.id} ${embedder.model}`;
    if (!this.#wishes.has(key)) this.#wishes.set(key, wish);
    this.#start();
  }

  #start(): void {
    if (this.#work !== undefined || this.#closing.signal.aborted) return;
    this.#work = this.#run().finally(() => {
      this.#work = undefined;
      if (this.#toRead.length > 0) this.#start();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const reading = this.#toRead.shift();
      const [next] = this.#wishes;
      if (reading !== undefined) await this.#read(reading);
      else if (next !== undefined) await this.#embed(...next);
      else return;
    }
    for (const reading of this.#toRead.splice(0)) reading.fail(signal.reason);
  }

  async #read(reading: Reading): Promise<void> {
    const { blob } = reading.file;
    reading.begin();
    try {
      const document = await this.#reader.read(reading.file, this.#closing.signal);
      reading.end(document);
      if (document.id === '') setTimeout(() => this.#readings.delete(blob), readAgainMs).unref();
    } catch (thrown) {
      this.#readings.delete(blob);
      reading.fail(thrown);
      if (!this.#closing.signal.aborted) this.#parts.noteFault('a document could not be read', thrown);
    }
  }

  async #embed(key: string, wish: Wish): Promise<void> {
    const { signal } = this.#closing;
    try {
      const outcome = await this.#vectors.step(wish, signal);
      this.#wishes.delete(key);
      if (outcome !== 'done') this.#wishes.set(key, wish);
      if (outcome === 'elsewhere') await this.#parts.clock.sleep(elsewhereMs, signal);
    } catch (thrown) {
      if (signal.aborted) return;
      this.#rest(wish.embedder);
      this.#parts.noteFault(`passages got no vectors from ${wish.embedder.model}`, thrown);
    }
  }

  /** Leaves a model alone for a while; who asks afterwards wishes for its vectors again. */
  #rest({ model }: TextEmbedder): void {
    this.#restUntilMs.set(model, this.#parts.clock.epochMs() + embedAgainMs);
    for (const [key, { embedder }] of this.#wishes) if (embedder.model === model) this.#wishes.delete(key);
    for (const reading of this.#readings.values()) reading.models.delete(model);
  }

  async #sweep(): Promise<void> {
    await this.#parts.index.sweep().catch((thrown) => this.#parts.noteFault('the passage index could not be swept', thrown));
  }
}
