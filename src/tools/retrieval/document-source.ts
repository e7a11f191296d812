import type { FileIndex } from '#domain/files/file-index.ts';
import { StoreError } from '#domain/store-error.ts';
import { type LoadedTools, ToolError } from '#domain/tools/tool.ts';
import { openDocumentSet } from './document-set.ts';
import { createQueryDocument, type QueryDocumentDeps } from './query-document.ts';

export interface DocumentSourceDeps extends QueryDocumentDeps {
  readonly files: FileIndex;
}

/**
 * Returns the tool that searches an application's files, and lists the missing files. Starts indexing the files in the
 * background. Throws `ToolError` if the file index is unavailable.
 */
export async function loadDocumentTools(
  references: readonly string[],
  owner: string | null,
  deps: DocumentSourceDeps,
): Promise<LoadedTools> {
  const { files, missing } = await openDocumentSet(references, owner, deps.files).catch(toToolError);
  if (files.length === 0) return { tools: [], missing };
  for (const { file } of files) deps.indexer.requestIndexing(file, deps.embedder);
  return { tools: [createQueryDocument(files, deps)], missing };
}

function toToolError(error: unknown): never {
  throw error instanceof StoreError ? new ToolError('The index of stored files is unavailable. Try again later.', error) : error;
}
