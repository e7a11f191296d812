import type { DocumentProgress } from '#domain/tools/document-progress.ts';
import type { IndexedDocument, PassageIndex } from '#domain/tools/passage-index.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import { findByBlob } from './indexing/read-content.ts';
import { type Shelf, type ShelvedFile, toFileName } from './shelf.ts';
import type { TextEmbedder } from './text-embedder.ts';

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
