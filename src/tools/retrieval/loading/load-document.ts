import { Worker } from 'node:worker_threads';
import { untilAborted } from '#base/until-aborted.ts';
import type { Passage } from '#domain/tools/passage-index.ts';
import type { LoadBounds } from './block.ts';
import { DocumentFault } from './document-fault.ts';
import type { FileLabel, Format } from './sniff-format.ts';

/** Bounds of reading a document, whatever is in it. */
export interface DocumentBounds extends LoadBounds {
  readonly maxBytes: number;
  readonly maxPassages: number;
  /** Milliseconds, from the bytes to the passages. */
  readonly timeoutMs: number;
  /** MiB that the thread may take for its objects. */
  readonly maxHeapMb: number;
}

export const defaultDocumentBounds: DocumentBounds = {
  maxBytes: 50 * 1024 ** 2,
  maxPages: 2000,
  maxUnpackedBytes: 200 * 1024 ** 2,
  maxPassages: 50_000,
  timeoutMs: 60_000,
  maxHeapMb: 1024,
};

export interface LoadedDocument {
  readonly title: string;
  readonly format: Format;
  readonly passages: readonly Passage[];
  /** What was left out, in a sentence for the user. */
  readonly note: string | undefined;
}

/** What the thread is given. */
export interface LoadingTask {
  readonly bytes: Uint8Array;
  readonly label: FileLabel;
  readonly bounds: LoadBounds;
  readonly maxPassages: number;
}

export type LoadingOutcome = LoadedDocument | { readonly failure: string };

/** The passages of a file, read in a thread that is ended when it takes too long or too much. The bytes are given away. Throws DocumentFault, the signal's reason. */
export async function loadDocument(
  bytes: Uint8Array<ArrayBuffer>,
  label: FileLabel,
  { signal, timeoutMs, maxHeapMb, ...bounds }: DocumentBounds & { readonly signal: AbortSignal },
): Promise<LoadedDocument> {
  signal.throwIfAborted();
  const task: LoadingTask = { bytes, label, bounds, maxPassages: bounds.maxPassages };
  const worker = new Worker(new URL('./loader-worker.ts', import.meta.url), {
    workerData: task,
    transferList: [bytes.buffer],
    execArgv: [],
    // Messages of the libraries about a document are not logged.
    stdout: true,
    stderr: true,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 },
  });
  try {
    const outcome = await untilAborted(outcomeOf(worker, timeoutMs), signal);
    if ('failure' in outcome) throw new DocumentFault(outcome.failure);
    return outcome;
  } finally {
    await worker.terminate();
  }
}

function outcomeOf(worker: Worker, timeoutMs: number): Promise<LoadingOutcome> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new DocumentFault(`Reading it took more than ${timeoutMs / 1000} s.`, { isPassing: true })),
      timeoutMs,
    );
    const fail = (cause?: unknown): void => {
      const isMemory = (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const message = isMemory
        ? 'Reading it takes more memory than a document may take.'
        : 'The file is damaged: reading it failed.';
      reject(new DocumentFault(message, { cause, isPassing: isMemory }));
    };
    worker.on('message', (outcome: LoadingOutcome) => resolve(outcome));
    worker.on('error', fail);
    worker.on('exit', () => fail());
    worker.on('exit', () => clearTimeout(late));
    worker.stdout.resume();
    worker.stderr.resume();
  });
}
