import type { Clock } from '#base/time/clock.ts';
import type { DocumentProgress, IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import type { ToolContext } from '#domain/tools/tool.ts';
import type { TextEmbedder } from './deployment-embedder.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import { findByBlob } from './indexing/read-content.ts';
import type { Reading } from './indexing/reading.ts';
import { type Shelf, type ShelvedFile, toFileName } from './shelf.ts';

/** How long a question waits for documents that are still being read. */
const patienceMs = 120_000;
const tellEveryMs = 2000;

export interface ProgressDeps {
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly embedder: TextEmbedder;
}

/** How far the files of an application are in the index, on whatever node they are read; what stopped is begun again. Throws StoreFault. */
export async function readProgress({ files, missing }: Shelf, deps: ProgressDeps): Promise<readonly DocumentProgress[]> {
  const found = await Promise.all(files.map((shelved) => toProgress(shelved, deps)));
  const failed = missing.map(({ name: reference, reason }) => {
    return { ...notRead(toFileName(reference), reference), state: 'failed' as const, reason };
  });
  return [...found, ...failed];
}

async function toProgress({ name, reference, file }: ShelvedFile, deps: ProgressDeps): Promise<DocumentProgress> {
  const { index, indexer, embedder } = deps;
  const reading = indexer.want(file, embedder, 'ahead');
  const document = reading.document ?? (await findByBlob(index, file.blob));
  const nothing = notRead(name, reference);
  if (document === undefined) return { ...nothing, state: reading.hasBegun ? 'indexing' : 'waiting' };
  const { failure, note, passages } = document;
  if (failure !== undefined) return { ...nothing, state: 'failed', reason: failure };
  const done = await countDone(document, deps);
  const state = done >= passages ? 'ready' : 'indexing';
  return { ...nothing, state, isSearchable: true, reason: note, done, total: passages };
}

function countDone({ id }: IndexedDocument, { index, embedder: { model } }: ProgressDeps): Promise<number> {
  return index.countVectors({ document: id, model });
}

function notRead(name: string, reference: string): DocumentProgress {
  return { name, reference, state: 'waiting', isSearchable: false, reason: undefined, done: 0, total: undefined };
}

/** A file with what is known of it. */
export interface ReadFile extends ShelvedFile {
  readonly document: IndexedDocument;
}

export interface Readings {
  readonly read: readonly ReadFile[];
  /** Why some cannot be searched, or not all of them, a sentence each. */
  readonly notes: readonly string[];
}

interface Wanted {
  readonly shelved: ShelvedFile;
  readonly reading: Reading;
}

/** Waits until the words of all files can be searched, telling how far that is; those that take too long are left out. Throws the signal's reason. */
export async function awaitReadings(wanted: readonly Wanted[], { signal, report }: ToolContext, clock: Clock): Promise<Readings> {
  const late = AbortSignal.timeout(patienceMs);
  const all = Promise.allSettled(wanted.map(({ reading }) => reading.done));
  let told = '';
  while (!late.aborted && wanted.some(({ reading }) => !reading.isOver)) {
    const line = toProgressLine(wanted);
    if (line !== told) await report({ content: `${line}\n\n` });
    told = line;
    const settled = new AbortController();
    const pause = clock.sleep(tellEveryMs, AbortSignal.any([signal, settled.signal]));
    await Promise.race([all, pause]).finally(() => settled.abort());
    signal.throwIfAborted();
  }
  return toReadings(wanted);
}

function toProgressLine(wanted: readonly Wanted[]): string {
  const left = wanted.filter(({ reading }) => !reading.isOver);
  const now = left.find(({ reading }) => reading.hasBegun) ?? left[0];
  return `Reading the documents for the first time: ${wanted.length - left.length} of ${wanted.length} read, now ${now?.shelved.name}.`;
}

function toReadings(wanted: readonly Wanted[]): Readings {
  const read: ReadFile[] = [];
  const notes: string[] = [];
  for (const { shelved, reading } of wanted) {
    const { document } = reading;
    if (document === undefined) notes.push(`${shelved.name} cannot be searched yet; ask again later.`);
    else if (document.failure !== undefined) notes.push(`${shelved.name} cannot be read. ${document.failure}`);
    else read.push({ ...shelved, document });
    if (document?.note !== undefined) notes.push(`${shelved.name}: ${document.note}`);
  }
  return { read, notes };
}
