import { IsolationError, type IsolationReason, runIsolated } from '#base/isolation/isolated-process.ts';
import type { Passage } from '#domain/tools/passage-index.ts';
import { DocumentError, type LoadBounds } from './loader.ts';
import type { FileLabel, Format } from './sniff-format.ts';

/** Bounds for reading any document. */
export interface DocumentBounds extends LoadBounds {
  readonly maxBytes: number;
  readonly maxPassages: number;
  /** Maximum number of milliseconds from the bytes to the passages. */
  readonly timeoutMs: number;
  /** Maximum memory of the process in MiB. */
  readonly maxMemoryMb: number;
}

export const defaultDocumentBounds: DocumentBounds = {
  maxBytes: 50 * 1024 ** 2,
  maxPages: 2000,
  maxUnpackedBytes: 200 * 1024 ** 2,
  maxPassages: 50_000,
  timeoutMs: 60_000,
  maxMemoryMb: 1024,
};

export interface LoadedDocument {
  readonly title: string;
  readonly format: Format;
  readonly passages: readonly Passage[];
  /** A sentence for the user about omitted content. */
  readonly note: string | undefined;
}

/** Input of the process, in addition to the bytes. */
export interface LoadingTask {
  readonly label: FileLabel;
  readonly bounds: LoadBounds;
  readonly maxPassages: number;
}

/** Last output of the process, after lists of passages. */
export type LoadingOutcome = Omit<LoadedDocument, 'passages'> | { readonly failure: string };

/**
 * Reads a file in a separate process, and returns its passages. The process is stopped if it exceeds its time or memory.
 * Transfers the bytes, so the caller must not use them again. Throws `DocumentError`, or the reason of the signal.
 */
export async function loadDocument(
  bytes: Uint8Array<ArrayBuffer>,
  label: FileLabel,
  { signal, timeoutMs, maxMemoryMb, ...bounds }: DocumentBounds & { readonly signal: AbortSignal },
): Promise<LoadedDocument> {
  const task: LoadingTask = { label, bounds, maxPassages: bounds.maxPassages };
  const program = new URL('./document-process.ts', import.meta.url);
  const work = { program, task, bytes, bounds: { timeoutMs, maxMemoryMb }, signal };
  const parts = (await runIsolated(work).catch(toDocumentError)) as [...Passage[][], LoadingOutcome];
  const outcome = parts.pop() as LoadingOutcome;
  if ('failure' in outcome) throw new DocumentError(outcome.failure);
  return { ...outcome, passages: (parts as Passage[][]).flat() };
}

function toDocumentError(error: unknown): never {
  if (!(error instanceof IsolationError)) throw error;
  throw new DocumentError(messages[error.reason](error.message), { cause: error, isTransient: error.reason !== 'crashed' });
}

const messages: Readonly<Record<IsolationReason, (message: string) => string>> = {
  late: (message) => `Reading was stopped: ${message}. Split it into smaller files.`,
  memory: (message) => `Reading was stopped: ${message} to be read. Split it into smaller files.`,
  unavailable: (message) => `It was not read: ${message}. Try again later.`,
  busy: (message) => `It was not read: ${message}.`,
  crashed: () => 'The file is damaged: reading it failed.',
};
