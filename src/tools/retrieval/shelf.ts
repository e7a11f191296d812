import type { FileIndex, IndexedFile } from '#domain/files/file-index.ts';
import { fromReference, toReference } from '#domain/files/file-references.ts';
import type { FilePlace } from '#domain/files/resource-place.ts';
import { mayReadAsDocument } from '#domain/quick-app/quick-app-documents.ts';
import type { MissingToolset } from '#domain/tools/tool.ts';

/** A stored file that questions are looked up in. */
export interface ShelvedFile {
  /** As the model and the user know it, unlike the others. */
  readonly name: string;
  readonly reference: string;
  readonly file: IndexedFile;
}

export interface Shelf {
  readonly files: readonly ShelvedFile[];
  /** What could not be had, for the user. */
  readonly missing: readonly MissingToolset[];
}

interface ReadReference {
  readonly reference: string;
  /** Undefined if the application must not read it. */
  readonly place: FilePlace | undefined;
  /** Reason why the file was not found. */
  readonly reason: string;
}

/**
 * The files that an application names: any for what the configuration has, those of its owner for what a user made; null stands
 * for the configuration. Throws StoreFault.
 */
export async function openShelf(references: readonly string[], owner: string | null, index: FileIndex): Promise<Shelf> {
  const read = [...new Set(references)].map((reference) => readReference(reference, owner));
  const stored = await index.findAll(read.flatMap(({ place }) => place ?? []));
  const byReference = new Map(stored.map((file) => [toReference(file), file]));
  const looked = read.map(({ place, ...each }) => ({ ...each, file: place && byReference.get(each.reference) }));
  const found = looked.flatMap(({ reference, file }) => (file === undefined ? [] : [{ reference, file }]));
  const names = found.map(({ file }) => file.path.slice(file.path.lastIndexOf('/') + 1));
  return {
    files: found.map(({ reference, file }, at) => {
      const name = names[at] ?? '';
      return { name: names.indexOf(name) === names.lastIndexOf(name) ? name : file.path, reference, file };
    }),
    missing: looked.flatMap(({ reference, file, reason }) => (file === undefined ? [{ name: reference, reason }] : [])),
  };
}

function readReference(given: string, owner: string | null): ReadReference {
  const place = fromReference(given);
  if (place === undefined) return { reference: given, place, reason: 'This is not the reference of a stored file.' };
  const reference = toReference(place);
  if (!mayReadAsDocument(place, owner))
    return { reference, place: undefined, reason: 'The application may only read files of its owner, and this is none.' };
  return { reference, place, reason: 'There is no stored file of this path; it was moved or deleted.' };
}

/** The last part of a reference, as people read it. */
export function toFileName(reference: string): string {
  const path = fromReference(reference)?.path ?? reference;
  return path.slice(path.lastIndexOf('/') + 1);
}
