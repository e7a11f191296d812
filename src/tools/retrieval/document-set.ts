import type { FileIndex, IndexedFile } from '#domain/files/file-index.ts';
import { type FileLocation, parseReference, toReference } from '#domain/files/resource-location.ts';
import { canReadAsDocument } from '#domain/files/resource-rights.ts';
import type { MissingToolset } from '#domain/tools/tool.ts';

/** A stored file that can be searched. */
export interface SearchableFile {
  /** Unique name for the model and the user. */
  readonly name: string;
  readonly reference: string;
  readonly file: IndexedFile;
}

export interface DocumentSet {
  readonly files: readonly SearchableFile[];
  /** Unavailable files, with reasons for the user. */
  readonly missing: readonly MissingToolset[];
}

interface ParsedReference {
  readonly reference: string;
  /** Undefined if the application must not read the file. */
  readonly location: FileLocation | undefined;
  /** Reason why the file was not found. */
  readonly reason: string;
}

/**
 * Resolves the files that an application references. A configured application (`owner` is null) may reference any file, an
 * application of a user only files of its owner. Throws `StoreError`.
 */
export async function openDocumentSet(
  references: readonly string[],
  owner: string | null,
  index: FileIndex,
): Promise<DocumentSet> {
  const parsed = [...new Set(references)].map((reference) => parseOwnReference(reference, owner));
  const stored = await index.findAll(parsed.flatMap(({ location }) => location ?? []));
  const byReference = new Map(stored.map((file) => [toReference(file), file]));
  const resolved = parsed.map(({ location, ...entry }) => ({ ...entry, file: location && byReference.get(entry.reference) }));
  const matches = resolved.flatMap(({ reference, file }) => (file === undefined ? [] : [{ reference, file }]));
  const names = matches.map(({ file }) => getFileName(file.path));
  return {
    files: matches.map(({ reference, file }, index) => {
      const name = names[index] ?? '';
      return { name: names.indexOf(name) === names.lastIndexOf(name) ? name : file.path, reference, file };
    }),
    missing: resolved.flatMap(({ reference, file, reason }) => (file === undefined ? [{ name: reference, reason }] : [])),
  };
}

function parseOwnReference(input: string, owner: string | null): ParsedReference {
  const location = parseReference(input);
  if (location === undefined) return { reference: input, location, reason: 'This is not a reference to a stored file.' };
  const reference = toReference(location);
  if (!canReadAsDocument(location, owner))
    return { reference, location: undefined, reason: 'The application may only read files of its owner.' };
  return { reference, location, reason: 'No file is stored at this path. It may have been moved or deleted.' };
}

/** Returns the part of a path after its last slash. */
export function getFileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
