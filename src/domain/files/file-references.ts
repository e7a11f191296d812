import { type ContentPlace, type FilePlace, isFolder, toPlace, toUrl } from './resource-place.ts';

/** How every reference to a file begins. */
export const fileScheme = 'files/';

/** The place of a file that `{bucket}/{path}` means, percent-decoded once; undefined for what no file can have (docs/wire.md, Files). */
export function toFilePlace(encoded: string): ContentPlace | undefined {
  const place = toPlace('files', encoded);
  return place === undefined || isFolder(place) ? undefined : place;
}

/** The place that a reference names; undefined for a text that is no reference. */
export function fromReference(reference: string): ContentPlace | undefined {
  return reference.startsWith(fileScheme) ? toFilePlace(reference.slice(fileScheme.length)) : undefined;
}

/** The one spelling of a reference: `files/{bucket}/{path}`, each segment percent-encoded. */
export function toReference({ bucket, path }: FilePlace): string {
  return toUrl({ kind: 'files', bucket, path });
}
