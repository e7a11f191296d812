import type { Clock } from '#base/time/clock.ts';
import { parseReference } from '#domain/files/resource-location.ts';
import type { TextEmbedder } from '#domain/tools/embedder.ts';
import type { DocumentProgress, IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import type { ToolContext } from '#domain/tools/tool.ts';
import { type DocumentSet, getFileName, type SearchableFile } from './document-set.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import { findByBlob } from './indexing/document-reader.ts';
import type { IndexingTask } from './indexing/indexing-task.ts';

/** Maximum time that a question waits for documents that are being read. */
const maxWaitMs = 120_000;
const reportIntervalMs = 2000;

export interface ProgressDeps {
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly embedder: TextEmbedder;
}

/** Returns the indexing progress of an application's files. Requests indexing of each, in case it stopped. Throws `StoreError`. */
export async function listProgress({ files, missing }: DocumentSet, deps: ProgressDeps): Promise<readonly DocumentProgress[]> {
  const progress = await Promise.all(files.map((source) => toProgress(source, deps)));
  const failed = missing.map(({ name: reference, reason }) => {
    const name = getFileName(parseReference(reference)?.path ?? reference);
    return { ...createWaitingProgress(name, reference), state: 'failed' as const, reason };
  });
  return [...progress, ...failed];
}

async function toProgress({ name, reference, file }: SearchableFile, deps: ProgressDeps): Promise<DocumentProgress> {
  const { index, indexer, embedder } = deps;
  const task = indexer.requestIndexing(file, embedder, 'prefetch');
  const document = task.document ?? (await findByBlob(index, file.blob));
  const initial = createWaitingProgress(name, reference);
  if (document === undefined) return { ...initial, state: task.hasStarted ? 'indexing' : 'waiting' };
  const { failure, note, passageCount: passages } = document;
  if (failure !== undefined) return { ...initial, state: 'failed', reason: failure };
  const done = await countVectors([document], deps);
  const state = done >= passages ? 'ready' : 'indexing';
  return { ...initial, state, isSearchable: true, reason: note, done, total: passages };
}

/** Returns the number of passages of the documents that have vectors of the embedder's model. Throws `StoreError`. */
export async function countVectors(
  documents: readonly IndexedDocument[],
  { index, embedder }: { readonly index: Pick<PassageIndex, 'countVectors'>; readonly embedder: TextEmbedder },
): Promise<number> {
  const counts = await Promise.all(documents.map(({ id }) => index.countVectors({ document: id, model: embedder.model })));
  return counts.reduce((sum, count) => sum + count, 0);
}

function createWaitingProgress(name: string, reference: string): DocumentProgress {
  return { name, reference, state: 'waiting', isSearchable: false, reason: undefined, done: 0, total: undefined };
}

/** A file with its indexed document. */
export interface IndexedSource extends SearchableFile {
  readonly document: IndexedDocument;
}

export interface AwaitedSources {
  readonly sources: readonly IndexedSource[];
  /** One sentence for each file that cannot be searched, or only in part. */
  readonly notes: readonly string[];
}

interface PendingFile {
  readonly source: SearchableFile;
  readonly task: IndexingTask;
}

/**
 * Waits until all files are searchable by keyword, and reports the progress. Vectors can follow later. Files that take too long are
 * left out. Throws the reason of the signal.
 */
export async function awaitIndexing(
  pending: readonly PendingFile[],
  { signal, report }: ToolContext,
  clock: Clock,
): Promise<AwaitedSources> {
  const timeout = AbortSignal.timeout(maxWaitMs);
  const allDone = Promise.allSettled(pending.map(({ task }) => task.done));
  let reportedLine = '';
  while (!timeout.aborted && pending.some(({ task }) => !task.hasEnded)) {
    const line = toProgressLine(pending);
    if (line !== reportedLine) await report({ content: `${line}\n\n` });
    reportedLine = line;
    const settled = new AbortController();
    const pause = clock.sleep(reportIntervalMs, AbortSignal.any([signal, settled.signal]));
    await Promise.race([allDone, pause]).finally(() => settled.abort());
    signal.throwIfAborted();
  }
  return toAwaitedSources(pending);
}

function toProgressLine(pending: readonly PendingFile[]): string {
  const remaining = pending.filter(({ task }) => !task.hasEnded);
  const current = remaining.find(({ task }) => task.hasStarted) ?? remaining[0];
  return `Indexing the documents: ${pending.length - remaining.length} of ${pending.length} done, current: ${current?.source.name}.`;
}

function toAwaitedSources(pending: readonly PendingFile[]): AwaitedSources {
  const sources: IndexedSource[] = [];
  const notes: string[] = [];
  for (const { source, task } of pending) {
    const { document } = task;
    if (document === undefined) notes.push(`${source.name} cannot be searched yet. Ask again later.`);
    else if (document.failure !== undefined) notes.push(`${source.name} cannot be read. ${document.failure}`);
    else sources.push({ ...source, document });
    if (document?.note !== undefined) notes.push(`${source.name}: ${document.note}`);
  }
  return { sources, notes };
}
