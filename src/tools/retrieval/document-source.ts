import type { FileIndex } from '#domain/files/file-index.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { type LoadedTools, ToolFault } from '#domain/tools/tool.ts';
import { createQueryDocument, type QueryDocumentDeps } from './query-document.ts';
import { openShelf } from './shelf.ts';

export interface DocumentSourceDeps extends QueryDocumentDeps {
  readonly files: FileIndex;
}

/** The tool that looks things up in an application's files, and what of them could not be had; they are brought into the index meanwhile. Throws ToolFault if the file index cannot be read. */
export async function loadDocumentTools(
  references: readonly string[],
  owner: string | null,
  deps: DocumentSourceDeps,
): Promise<LoadedTools> {
  const { files, missing } = await openShelf(references, owner, deps.files).catch(toToolFault);
  if (files.length === 0) return { tools: [], missing };
  for (const { file } of files) deps.indexer.want(file, deps.embedder);
  return { tools: [createQueryDocument(files, deps)], missing };
}

function toToolFault(thrown: unknown): never {
  throw thrown instanceof StoreFault ? new ToolFault('The stored files cannot be looked up at the moment.', thrown) : thrown;
}
