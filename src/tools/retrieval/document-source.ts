import type { Clock } from '#base/clock.ts';
import type { FileIndex } from '#domain/file-index.ts';
import type { PassageIndex } from '#domain/passage-index.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { type Tool, ToolFault } from '#domain/tool.ts';
import type { DocumentIndexer } from './indexing/document-indexer.ts';
import { createQueryDocument } from './query-document.ts';
import type { PassageSearch } from './searching/passage-search.ts';
import { openShelf, type Shelf } from './shelf.ts';
import type { TextEmbedder } from './text-embedder.ts';

export interface DocumentSourceParts {
  readonly files: FileIndex;
  readonly index: PassageIndex;
  readonly indexer: DocumentIndexer;
  readonly search: PassageSearch;
  readonly embedder: TextEmbedder;
  readonly clock: Clock;
  /** Bytes of a result that the model is shown. */
  readonly maxResultBytes: number;
}

export interface DocumentTools {
  readonly tools: readonly Tool[];
  readonly missing: Shelf['missing'];
}

/** The tool that looks things up in an application's files, and what of them could not be had; they are brought into the index meanwhile. Throws ToolFault where it cannot be known. */
export async function loadDocumentTools(
  references: readonly string[],
  owner: string | null,
  parts: DocumentSourceParts,
): Promise<DocumentTools> {
  const { files, missing } = await openShelf(references, owner, parts.files).catch(toToolFault);
  if (files.length === 0) return { tools: [], missing };
  for (const { file } of files) parts.indexer.want(file, parts.embedder);
  return { tools: [createQueryDocument(files, parts)], missing };
}

function toToolFault(thrown: unknown): never {
  throw thrown instanceof StoreFault ? new ToolFault('The stored files cannot be looked up at the moment.', thrown) : thrown;
}
